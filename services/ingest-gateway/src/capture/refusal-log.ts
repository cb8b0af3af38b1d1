import type { Logger } from '@millrace/runtime';

/** What a line about a refused request says: nothing of its content. */
export interface RefusalLine {
  requestId: string;
  method: string | undefined;
  path: string;
  status: number;
  code: string;
  attr: string | null;
  environmentId: number | null;
  cause: unknown;
}

const linesPerSecond = 10;

/**
 * One line for each refused request, at most ten a second: a client that repeats its mistake a thousand times must not
 * fill a disk. The first line of the next second says how many were left out.
 */
export function createRefusalLog(logger: Logger): (line: RefusalLine) => void {
  let second = 0;
  let written = 0;
  let leftOut = 0;
  return ({ cause, ...line }) => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) {
      second = now;
      written = 0;
    }
    if (written >= linesPerSecond) {
      leftOut += 1;
      return;
    }
    written += 1;
    const facts = { ...line, ...(cause === undefined ? {} : { error: cause }), ...(leftOut > 0 ? { leftOut } : {}) };
    leftOut = 0;
    if (line.status === 500) logger.error('a request failed', facts);
    else logger.warn('a request was refused', facts);
  };
}
