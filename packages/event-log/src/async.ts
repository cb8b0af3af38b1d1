/** Settles as `work` does, or rejects after `timeoutMs`; `work` itself continues and its outcome is then ignored. */
export async function withDeadline<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(`${what} took more than ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

const firstDelayMs = 100;
/** The port's promise: a failed batch is delivered again after 5 s at most. */
const maxDelayMs = 5000;

/** How long to wait after the `failures`-th failure in a row (from 1). */
export function backoffMs(failures: number): number {
  return Math.min(firstDelayMs * 2 ** (failures - 1), maxDelayMs);
}

/** Waits; returns early, without an error, when `signal` aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (ms <= 0 || signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

/** A promise that is resolved from outside. */
export function openPromise(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Lets at most `limit` pieces of work run at once; the others wait in line. */
export function limitConcurrency(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const line: (() => void)[] = [];
  let free = Math.max(1, limit);

  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => line.push(resolve));
    try {
      return await work();
    } finally {
      // The slot goes directly to the next in line, so that nobody can overtake.
      const next = line.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
