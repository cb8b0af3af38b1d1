import { type AppendCall, createAppendCall } from './append-call.ts';

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
