import { setTimeout as sleep } from 'node:timers/promises';

/** Knows whether this process is busy with live events, so that other work can stand back. */
export interface LiveLoad {
  /** Runs one batch of the live lane. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves as soon as no live batch is in hand, after `maxMs` at the latest, or when the signal aborts. */
  untilIdle(maxMs: number, signal: AbortSignal): Promise<void>;
}

export function createLiveLoad(): LiveLoad {
  let inHand = 0;
  let idle: (() => void)[] = [];
  return {
    async during(work) {
      inHand += 1;
      try {
        return await work();
      } finally {
        inHand -= 1;
        if (inHand === 0) for (const resolve of idle.splice(0)) resolve();
      }
    },
    async untilIdle(maxMs, signal) {
      if (inHand === 0) return;
      const over = new AbortController();
      // `AbortSignal.any` would leave something behind in the long-lived signal with every wait.
      const stop = () => over.abort();
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
      let resolveIdle: () => void = () => {};
      const isIdle = new Promise<void>((resolve) => {
        resolveIdle = resolve;
        idle.push(resolve);
      });
      await Promise.race([isIdle, sleep(maxMs, undefined, { signal: over.signal }).catch(() => {})]);
      over.abort();
      signal.removeEventListener('abort', stop);
      idle = idle.filter((resolve) => resolve !== resolveIdle);
    },
  };
}
