// Protects requests from slow databases: time limits, a limit on concurrent queries, and a circuit breaker.

import { AppError, isAppError } from '@millrace/runtime';

/** How long requests wait for PostgreSQL, in milliseconds. `…QueueMs` is the wait for queries of the same type. */
export interface StoreTimeLimits {
  keyMs: number;
  keyQueueMs: number;
  /** The limit for a key with a cached result. */
  oldKeyMs: number;
  flagDataMs: number;
  flagDataQueueMs: number;
  definitionsMs: number;
  definitionsQueueMs: number;
  settingsMs: number;
  /** The limit for evaluating an expensive flag request. Clients wait three seconds for the response. */
  expensiveFlagsMs: number;
  bearerQueueMs: number;
}

export const storeTimeLimits: StoreTimeLimits = {
  // Together with `keyQueueMs` and the limit for the append (2.5 s), this is less than ten seconds, after which the
  // least patient SDKs give up.
  keyMs: 2500,
  keyQueueMs: 2500,
  oldKeyMs: 500,
  flagDataMs: 250,
  flagDataQueueMs: 100,
  definitionsMs: 2500,
  definitionsQueueMs: 500,
  settingsMs: 500,
  expensiveFlagsMs: 1500,
  bearerQueueMs: 500,
};

/**
 * Settles like `work`, or rejects with AppError `unavailable` after `ms`. A timeout does not stop `work`, but its
 * result is ignored. Processes pending I/O before rejecting, because the response may have arrived while this process
 * was busy.
 */
export function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new AppError('unavailable', `No response within ${ms} ms.`, { code: 'slow' }));
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Returns true if the time limit was exceeded. The store may be slow rather than down. */
export function isTimeLimitExceeded(error: unknown): boolean {
  return isAppError(error, 'unavailable') && error.code === 'slow';
}

interface Slots {
  /** Runs the work when a slot is free. @throws AppError `unavailable` (`busy`) if no slot becomes free in time */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export interface SlotLimits {
  max: number;
  maxWaiting: number;
  waitMs: number;
}

/** Limits the number of concurrent queries, so that they do not queue in the database itself. */
export function createSlots({ max, maxWaiting, waitMs }: SlotLimits): Slots {
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
      // Process pending I/O first, as in `withTimeLimit`, because a response can free a slot.
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

/** Returns true if all slots were in use. The store itself may work normally. */
export function isBusy(error: unknown): boolean {
  return isAppError(error, 'unavailable') && error.code === 'busy';
}

interface CircuitBreaker {
  /** Runs the work. While the circuit breaker is open, rejects immediately with `unavailable`. */
  run<T>(work: () => Promise<T>): Promise<T>;
  isOpen(): boolean;
}

/**
 * Creates a circuit breaker that runs no work for `restMs` after a failure. Without it, every caller would wait for the
 * time limit while the store is down.
 */
export function createCircuitBreaker(options: {
  restMs: number;
  /** The number of consecutive failures that open the circuit breaker. Defaults to 1. */
  failuresToOpen?: number;
  /**
   * Returns true if the store itself failed, and false if the query was invalid. By default, every error counts as a
   * failure of the store.
   */
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
