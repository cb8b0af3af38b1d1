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

export interface RefusalLog {
  write(line: RefusalLine): void;
  /** Says what was left out so far. */
  stop(): void;
}

/** The part of a logger that is needed. */
export interface RefusalLogger {
  warn(message: string, facts: object): unknown;
  error(message: string, facts: object): unknown;
}

/** For each reason, so that a flood of one mistake does not hide the others. */
const linesPerWindow = 10;
const windowMs = 1000;

interface Reason {
  status: number;
  code: string;
  written: number;
  leftOut: number;
}

/**
 * One line for each refused request, at most ten a second for each status and code: a client that repeats its mistake a
 * thousand times must not fill a disk. At the end of the second one more line says how many were left out.
 */
export function createRefusalLog(logger: RefusalLogger): RefusalLog {
  const reasons = new Map<string, Reason>();
  let timer: NodeJS.Timeout | undefined;

  function reasonOf({ status, code }: RefusalLine): Reason {
    const name = `${status} ${code}`;
    const known = reasons.get(name);
    if (known !== undefined) return known;
    const reason = { status, code, written: 0, leftOut: 0 };
    reasons.set(name, reason);
    timer ??= setTimeout(endWindow, windowMs).unref();
    return reason;
  }

  function say(status: number, message: string, facts: object): void {
    // Only this status is a fault of ours.
    if (status === 500) logger.error(message, facts);
    else logger.warn(message, facts);
  }

  function endWindow(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const { status, code, leftOut } of reasons.values()) {
      if (leftOut > 0) say(status, 'more requests rejected', { status, code, leftOut });
    }
    reasons.clear();
  }

  return {
    write(line) {
      const reason = reasonOf(line);
      if (reason.written >= linesPerWindow) {
        reason.leftOut += 1;
        return;
      }
      reason.written += 1;
      const { cause, ...facts } = line;
      const message = line.status === 500 ? 'request failed' : 'request rejected';
      say(line.status, message, { ...facts, ...(cause === undefined ? {} : { error: cause }) });
    },
    stop: endWindow,
  };
}
