/** One call of `append`: settled exactly once, when all of its records are in the log or the first thing goes wrong. */
export interface AppendCall {
  /** Records not acknowledged yet. */
  pending: number;
  isSettled: boolean;
  /** `performance.now()` of the call. */
  readonly startedAt: number;
  /** Why the last attempt failed; becomes the cause when the call expires. */
  lastError: Error | null;
  /** Called once. */
  readonly onSettled: (error: Error | null) => void;
}

function createAppendCall(records: number, onSettled: (error: Error | null) => void): AppendCall {
  return { pending: records, isSettled: false, startedAt: performance.now(), lastError: null, onSettled };
}

/** One of its records is in the log. */
export function acknowledge(call: AppendCall): void {
  call.pending -= 1;
  if (call.pending === 0) settle(call, null);
}

export function fail(call: AppendCall, error: Error): void {
  settle(call, error);
}

function settle(call: AppendCall, error: Error | null): void {
  if (call.isSettled) return;
  call.isSettled = true;
  call.onSettled(error);
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

  /**
   * Calls are settled roughly in their order. A call that was kept for longer would be copied by the garbage collector
   * again and again.
   */
  function forgetSettled(): void {
    let settled = 0;
    while (calls[settled]?.isSettled) settled += 1;
    if (settled > 0) calls.splice(0, settled);
  }

  return {
    watch(call: AppendCall): void {
      forgetSettled();
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

/** Calls that are not settled yet. */
export function createOpenCalls({ acknowledged }: { acknowledged(seconds: number): void }) {
  const idleWaiters: (() => void)[] = [];
  let open = 0;
  return {
    /** Apart from the records, so that a call, which may be kept until its time limit, does not keep them with it. */
    open(records: number): { call: AppendCall; settled: Promise<void> } {
      let settle: (error: Error | null) => void = () => {};
      const settled = new Promise<void>((resolve, reject) => {
        settle = (error) => (error === null ? resolve() : reject(error));
      });
      const call = createAppendCall(records, (error) => {
        open -= 1;
        if (open === 0) for (const wake of idleWaiters.splice(0)) wake();
        if (error === null) acknowledged((performance.now() - call.startedAt) / 1000);
        settle(error);
      });
      open += 1;
      return { call, settled };
    },
    /** Resolves when none is open, or after the time. */
    async idle(timeoutMs: number): Promise<void> {
      if (open === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([
        new Promise<void>((resolve) => idleWaiters.push(resolve)),
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, timeoutMs);
        }),
      ]);
      clearTimeout(timer);
    },
  };
}
