import { AppError } from '@millrace/errors';

export interface CircuitBreaker {
  /** Runs the work, or rejects at once (`unavailable`) while the last failure is recent. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** After a failure nobody tries for `restMs`. Otherwise a dead store would cost every caller its time limit. */
export function createCircuitBreaker({ restMs }: { restMs: number }): CircuitBreaker {
  let openUntilMs = 0;
  return {
    async run(work) {
      if (performance.now() < openUntilMs) throw new AppError('unavailable', 'The store is resting.');
      try {
        return await work();
      } catch (error) {
        openUntilMs = performance.now() + restMs;
        throw error;
      }
    },
  };
}
