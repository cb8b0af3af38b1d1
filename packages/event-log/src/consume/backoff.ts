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
