import { AppError } from '@millrace/errors';

export interface CircuitBreaker {
  /** Runs the work, or rejects at once (`unavailable`) while the last failure is recent or too much is under way. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** True while attempts fail at once. */
  isOpen(): boolean;
}

/**
 * Keeps a dead store from costing every caller its time limit: after a failure nobody tries for `restMs`. At most
 * `maxConcurrent` pieces of work run at a time, so that a slow store does not gather a queue; being busy is no failure.
 */
export function createCircuitBreaker({
  restMs,
  maxConcurrent,
}: {
  restMs: number;
  maxConcurrent: number;
}): CircuitBreaker {
  let openUntilMs = 0;
  let running = 0;
  const isOpen = () => performance.now() < openUntilMs;
  return {
    isOpen,
    async run(work) {
      if (isOpen() || running >= maxConcurrent) throw new AppError('unavailable', 'The store is resting or busy.');
      running += 1;
      try {
        return await work();
      } catch (error) {
        openUntilMs = performance.now() + restMs;
        throw error;
      } finally {
        running -= 1;
      }
    },
  };
}
