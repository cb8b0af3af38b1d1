const firstDelayMs = 100;
/** The port's promise: a failed batch is delivered again after 5 s at most. */
const maxDelayMs = 5000;

/** How long to wait after the `failures`-th failure in a row (from 1). */
export function backoffMs(failures: number): number {
  return Math.min(firstDelayMs * 2 ** (failures - 1), maxDelayMs);
}
