// Shares one run among identical concurrent queries.

interface Run<T> {
  result: Promise<T>;
  controller: AbortController;
  callers: number;
}

/** Creates a function that runs `work`, or waits for a run that another caller has started with the same key. */
export function createSharedRuns<T>() {
  const running = new Map<string, Run<T>>();

  function begin(key: string, work: (signal: AbortSignal) => Promise<T>): Run<T> {
    const controller = new AbortController();
    const end = () => void (running.get(key) === run && running.delete(key));
    const run: Run<T> = { result: work(controller.signal).finally(end), controller, callers: 0 };
    running.set(key, run);
    return run;
  }

  /**
   * Returns the result for a key, from the current run or from a new one.
   * @param signal a signal that ends this caller's wait. The run itself is aborted when no caller waits for it anymore.
   */
  return async (key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    const run = running.get(key) ?? begin(key, work);
    run.callers += 1;
    try {
      return await untilAborted(run.result, signal);
    } finally {
      run.callers -= 1;
      if (run.callers === 0) {
        // Remove the aborted run, so that the next caller starts a new run.
        if (running.get(key) === run) running.delete(key);
        run.controller.abort(signal.reason);
      }
    }
  };
}

function untilAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
