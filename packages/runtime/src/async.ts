/** Settles like `work`, or rejects after `timeoutMs`. A timeout does not stop `work`, but its result is ignored. */
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

/** Waits `ms` milliseconds. Returns early without an error if `signal` aborts. */
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

interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: Error): void;
}

export function createDeferred<T>(): Deferred<T> {
  let resolve: Deferred<T>['resolve'] = () => {};
  let reject: Deferred<T>['reject'] = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/**
 * Runs at most `limit` tasks at the same time and queues all further tasks. A task with `isFirst` starts before all
 * queued tasks without it.
 */
export function limitConcurrency(limit: number): <T>(work: () => Promise<T>, isFirst?: boolean) => Promise<T> {
  const first: (() => void)[] = [];
  const line: (() => void)[] = [];
  let free = Math.max(1, limit);

  return async (work, isFirst = false) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => (isFirst ? first : line).push(resolve));
    try {
      return await work();
    } finally {
      // Pass the slot directly to the next queued task, so that a new task cannot overtake it.
      const next = first.shift() ?? line.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
