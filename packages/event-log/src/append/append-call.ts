/** One call of `append`: settled exactly once, when all of its records are in the log or the first thing goes wrong. */
export interface AppendCall {
  /** Records not acknowledged yet. */
  pending: number;
  isSettled: boolean;
  /** `performance.now()` of the call. */
  startedAt: number;
  /** Why the last attempt failed; becomes the cause when the call expires. */
  lastError: Error | null;
  acknowledge(): void;
  fail(error: Error): void;
}

export function createAppendCall(records: number, onSettled: (error: Error | null) => void): AppendCall {
  const settle = (error: Error | null) => {
    if (call.isSettled) return;
    call.isSettled = true;
    onSettled(error);
  };
  const call: AppendCall = {
    pending: records,
    isSettled: false,
    startedAt: performance.now(),
    lastError: null,
    acknowledge() {
      call.pending -= 1;
      if (call.pending === 0) settle(null);
    },
    fail: settle,
  };
  return call;
}

/**
 * Expires calls after `timeoutMs`. All calls have the same limit, so the oldest is always the next one: one timer
 * serves them all.
 */
export function createExpiry(timeoutMs: number, expire: (call: AppendCall) => void) {
  const calls: AppendCall[] = [];
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    const oldest = calls[0];
    if (oldest === undefined || timer !== undefined) return;
    timer = setTimeout(run, Math.max(1, oldest.startedAt + timeoutMs - performance.now()));
  }

  function run(): void {
    timer = undefined;
    const limit = performance.now() - timeoutMs;
    let done = 0;
    for (const call of calls) {
      if (!call.isSettled && call.startedAt > limit) break;
      if (!call.isSettled) expire(call);
      done += 1;
    }
    calls.splice(0, done);
    arm();
  }

  return {
    watch(call: AppendCall): void {
      calls.push(call);
      arm();
    },
    /** Expires everything that is left, at once. */
    expireAll(): void {
      clearTimeout(timer);
      timer = undefined;
      for (const call of calls.splice(0)) if (!call.isSettled) expire(call);
    },
  };
}
