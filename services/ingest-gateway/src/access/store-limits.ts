import { AppError, isAppError } from '@millrace/runtime';

/** How long requests wait for the stores, milliseconds. A turn is the time until others that ask the same store are done. */
export interface StoreTimeLimits {
  /** A key in PostgreSQL. */
  keyMs: number;
  keyTurnMs: number;
  /** A key while a former answer is at hand. */
  oldKeyMs: number;
  /** What is stored for one request of flags. */
  flagDataMs: number;
  flagDataTurnMs: number;
  /** Definitions of flags: they may be large, and are remembered. */
  definitionsMs: number;
  definitionsTurnMs: number;
  /** Settings of an environment, and its early access features. */
  settingsMs: number;
  /** The turns of an expensive question for flags; clients wait three seconds for their answer. */
  flagTurnsMs: number;
  /** Whose a bearer's key is. */
  bearerTurnMs: number;
}

export const storeTimeLimits: StoreTimeLimits = {
  // Together with the append (2.5 s) less than the ten seconds after which the first SDKs give up.
  keyMs: 2500,
  keyTurnMs: 2500,
  oldKeyMs: 500,
  flagDataMs: 250,
  flagDataTurnMs: 100,
  definitionsMs: 2500,
  definitionsTurnMs: 500,
  settingsMs: 500,
  flagTurnsMs: 1500,
  bearerTurnMs: 500,
};

/**
 * The promise's result, or AppError `unavailable` after `ms`. The work continues; its late result is ignored.
 *
 * Before it gives up it reads what has arrived: a process that was busy itself for that long must not blame the other
 * side.
 */
export function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new AppError('unavailable', `No response within ${ms} ms.`, { code: 'slow' }));
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Whether time ran out, which does not say that the other side is down. */
export function isSlow(error: unknown): boolean {
  return isAppError(error, 'unavailable') && error.code === 'slow';
}

interface Slots {
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
      // First what has arrived is read, as in `withTimeLimit`: it may make room.
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
  return new AppError('unavailable', 'Too many requests. Try again in a second.', {
    code: 'busy',
    retryAfterSeconds: 1,
  });
}

/** Whether the work was not even started, which says nothing about the store. */
export function isBusy(error: unknown): boolean {
  return isAppError(error, 'unavailable') && error.code === 'busy';
}

interface CircuitBreaker {
  /** Runs the work, or rejects at once (`unavailable`) while the last failure is recent. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Whether nobody tries at the moment. */
  isOpen(): boolean;
}

/** After a failure nobody tries for `restMs`. Otherwise a dead store would cost every caller its time limit. */
export function createCircuitBreaker(options: {
  restMs: number;
  /** So many failures in a row open it; one, unless told. */
  failuresToOpen?: number;
  /** Which errors speak of the store rather than of the question; all, unless told. */
  isFailure?: (error: unknown) => boolean;
}): CircuitBreaker {
  const { restMs, failuresToOpen = 1, isFailure = () => true } = options;
  let openUntilMs = 0;
  let failures = 0;
  const isOpen = () => performance.now() < openUntilMs;
  return {
    isOpen,
    async run(work) {
      if (isOpen()) throw new AppError('unavailable', 'The database is temporarily unavailable.');
      try {
        const result = await work();
        failures = 0;
        return result;
      } catch (error) {
        failures = isFailure(error) ? failures + 1 : 0;
        if (failures >= failuresToOpen) openUntilMs = performance.now() + restMs;
        throw error;
      }
    },
  };
}
