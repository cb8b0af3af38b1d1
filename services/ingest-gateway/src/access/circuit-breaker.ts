import { AppError } from '@millrace/errors';

export interface CircuitBreaker {
  /** Runs the work, or rejects at once (`unavailable`) while the last failure is recent. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Whether nobody tries at the moment. */
  isOpen(): boolean;
}

export interface CircuitBreakerOptions {
  restMs: number;
  /** So many failures in a row open it; one, unless told. */
  failuresToOpen?: number;
  /** Which errors speak of the store rather than of the question; all, unless told. */
  isFailure?: (error: unknown) => boolean;
}

/** After a failure nobody tries for `restMs`. Otherwise a dead store would cost every caller its time limit. */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { restMs, failuresToOpen = 1, isFailure = () => true } = options;
  let openUntilMs = 0;
  let failures = 0;
  const isOpen = () => performance.now() < openUntilMs;
  return {
    isOpen,
    async run(work) {
      if (isOpen()) throw new AppError('unavailable', 'The store is resting.');
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
