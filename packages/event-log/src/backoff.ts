const firstDelayMs = 100;
/** The maximum delay in milliseconds. `EventLog` promises to redeliver a failed batch within 5 s. */
const maxDelayMs = 5000;

/**
 * Returns the delay in milliseconds before the next attempt.
 * @param failures the number of consecutive failures, at least 1
 */
export function backoffMs(failures: number): number {
  return Math.min(firstDelayMs * 2 ** (failures - 1), maxDelayMs);
}
