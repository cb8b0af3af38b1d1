// Protects requests from slow databases: time limits, a limit on concurrent queries, and a circuit breaker.

import { AppError, isAppError } from '@millrace/runtime';

/**
 * How long requests wait for the stores, in milliseconds. A name that ends in `QueueMs` is the time that a request
 * waits for other queries to the same store.
 */
export interface StoreTimeLimits {
  /** The time limit for looking up a key in PostgreSQL. */
  keyMs: number;
  keyQueueMs: number;
  /** The time limit for looking up a key for which a previous result is cached. */
  oldKeyMs: number;
  /** The time limit for loading the stored data for a flag request. */
  flagDataMs: number;
  flagDataQueueMs: number;
  /** The time limit for loading flag definitions, which can be large and are cached. */
  definitionsMs: number;
  definitionsQueueMs: number;
  /** The time limit for loading an environment's settings and early access features. */
  settingsMs: number;
  /** The time limit for evaluating an expensive flag request. Clients wait three seconds for the response. */
  expensiveFlagsMs: number;
  /** The time limit for looking up the permissions of a bearer key. */
  bearerQueueMs: number;
}

export const storeTimeLimits: StoreTimeLimits = {
  // This limit and the limit for the append (2.5 s) add up to less than ten seconds, after which the first SDKs give
  // up.
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
 * Resolves with the result of the promise, or rejects with AppError `unavailable` after `ms`. The work continues, but
 * its late result is ignored. Before rejecting, processes pending I/O, because the response may have arrived while this
 * process was busy.
 */
export function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new AppError('unavailable', `No response within ${ms} ms.`, { code: 'slow' }));
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Returns true if the time limit was exceeded, which does not mean that the store is down. */
export function isTimeLimitExceeded(error: unknown): boolean {
  return isAppError(error, 'unavailable') && error.code === 'slow';
}

interface Slots {
  /**
   * Runs the work when a slot is free.
   * @throws AppError `unavailable` (`busy`) if no slot becomes free in time
   */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export interface SlotLimits {
  max: number;
  maxWaiting: number;
  waitMs: number;
}

/** Limits the number of concurrent queries to a store, so that queries do not queue in the store itself. */
export function createSlots({ max, maxWaiting, waitMs }: SlotLimits): Slots {
  /** Functions that start queued tasks, in queue order. */
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

/** Returns true if the task was not started because all slots were in use. The store may work normally. */
export function isBusy(error: unknown): boolean {
  return isAppError(error, 'unavailable') && error.code === 'busy';
}

interface CircuitBreaker {
  /** Runs the task, or rejects immediately with `unavailable` while the circuit breaker is open. */
  run<T>(work: () => Promise<T>): Promise<T>;
  isOpen(): boolean;
}

/**
 * Creates a circuit breaker that runs no work for `restMs` after a failure. Otherwise, each caller would wait for the
 * time limit while the store is down.
 */
export function createCircuitBreaker(options: {
  restMs: number;
  /** The number of consecutive failures that open the circuit breaker. The default is 1. */
  failuresToOpen?: number;
  /**
   * Returns true if the store itself has failed, and false if the query was invalid. By default, all errors count as
   * store failures.
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
