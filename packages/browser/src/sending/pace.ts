/** When the next request makes sense. */
export interface Pace {
  /** Requests in a row that came to nothing. */
  failures: number;
  /** By a clock that nobody sets. */
  pausedUntil: number;
}

const shortestRestMs = 3000;
const longestRestMs = 300_000;

/** Spread, so that the visitors of a service that was away do not come back all at once. */
export function restMs({ failures, pausedUntil }: Pace): number {
  const backoffMs = Math.min(shortestRestMs * 2 ** (failures - 1), longestRestMs) * (0.75 + Math.random() / 2);
  return Math.max(failures && backoffMs, pausedUntil - performance.now());
}

export function isPaused({ pausedUntil }: Pace): boolean {
  return performance.now() < pausedUntil;
}

export function pause(pace: Pace, ms: number): void {
  pace.pausedUntil = performance.now() + ms;
}
