/** A log line about a rejected request, without any of the request's data. */
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
  /** Logs the number of omitted lines. */
  stop(): void;
}

export interface RefusalLogger {
  warn(message: string, facts: object): unknown;
  error(message: string, facts: object): unknown;
}

/** The maximum number of lines per reason and window, so that a frequent error does not hide rare ones. */
const linesPerWindow = 10;
const windowMs = 1000;

interface Reason {
  status: number;
  code: string;
  written: number;
  omitted: number;
}

/**
 * Logs one line for each rejected request, but at most ten per second for each status and code, so that a client that
 * repeats an error does not fill the disk. The number of omitted lines is logged at the end of the second.
 */
export function createRefusalLog(logger: RefusalLogger): RefusalLog {
  const reasons = new Map<string, Reason>();
  let timer: NodeJS.Timeout | undefined;

  function reasonOf({ status, code }: RefusalLine): Reason {
    const name = `${status} ${code}`;
    const known = reasons.get(name);
    if (known !== undefined) return known;
    const reason = { status, code, written: 0, omitted: 0 };
    reasons.set(name, reason);
    timer ??= setTimeout(endWindow, windowMs).unref();
    return reason;
  }

  function log(status: number, message: string, facts: object): void {
    // Of all error statuses, only 500 means that the gateway itself failed.
    if (status === 500) logger.error(message, facts);
    else logger.warn(message, facts);
  }

  function endWindow(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const { status, code, omitted } of reasons.values()) {
      if (omitted > 0) log(status, 'more requests rejected', { status, code, leftOut: omitted });
    }
    reasons.clear();
  }

  return {
    write(line) {
      const reason = reasonOf(line);
      if (reason.written >= linesPerWindow) {
        reason.omitted += 1;
        return;
      }
      reason.written += 1;
      const { cause, ...facts } = line;
      const message = line.status === 500 ? 'request failed' : 'request rejected';
      log(line.status, message, { ...facts, ...(cause === undefined ? {} : { error: cause }) });
    },
    stop: endWindow,
  };
}
