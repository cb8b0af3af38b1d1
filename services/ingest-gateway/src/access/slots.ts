import { AppError, isAppError } from '@millrace/errors';

export interface Slots {
  /** Runs the work when it is its turn. @throws AppError `unavailable` (`busy`) when that takes too long. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export interface SlotLimits {
  /** Pieces of work that run at a time. */
  max: number;
  /** Pieces that may wait for their turn, in the order they came. */
  maxWaiting: number;
  waitMs: number;
}

/** Bounds how much is asked of a store at a time. Then the time an answer takes is the store's own, without a queue. */
export function createSlots({ max, maxWaiting, waitMs }: SlotLimits): Slots {
  /** In the order they came; each is called with its turn. */
  const waiting = new Set<() => void>();
  let running = 0;

  function acquire(): Promise<void> | undefined {
    if (running < max) {
      running += 1;
      return undefined;
    }
    if (waiting.size >= maxWaiting) throw busy();
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        if (waiting.delete(start)) reject(busy());
      };
      // First what has arrived is read, as in time-limit.ts: it may make room.
      const timer = setTimeout(() => setImmediate(giveUp), waitMs);
      waiting.add(start);
    });
  }

  function passOn(): void {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    waiting.delete(next);
    next();
  }

  return {
    async run(work) {
      await acquire();
      try {
        return await work();
      } finally {
        passOn();
      }
    },
  };
}

function busy(): AppError {
  return new AppError('unavailable', 'Too much is asked at the moment.', { code: 'busy', retryAfterSeconds: 1 });
}

/** Whether the work was not even started, which says nothing about the store. */
export function isBusy(error: unknown): boolean {
  return isAppError(error, 'unavailable') && error.code === 'busy';
}
