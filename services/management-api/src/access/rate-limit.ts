import { createInProcessKeyValue, type KeyValue } from '@millrace/cache';
import { AppError } from '@millrace/errors';
import { batchCounts } from './batch-counts.ts';

/** At most `limit` requests in any `seconds`. */
export interface RateWindow {
  seconds: number;
  limit: number;
}

export interface RateLimit {
  /**
   * Counts one request of a subject, e.g. a key.
   * @returns null when it is within every window, else the whole seconds to wait; then it is not counted.
   */
  take(subject: string): Promise<number | null>;
}

export interface RateLimitOptions {
  /** Shared by all processes; while it cannot be reached each process counts for itself. */
  keyValue: KeyValue;
  /** Prefix of the counters, one per kind of limit. */
  name: string;
  /** Those with a limit of 0 do not count: no limit. */
  windows: readonly RateWindow[];
  /** Milliseconds since 1970. */
  now?: () => number;
}

/**
 * Sliding windows (docs/api-rules.md#rate-limits), each of two counters: this interval's, and the one before it as far
 * as it still reaches into the window. One round trip; a limiter that fails never refuses anybody.
 */
export function createRateLimit({ keyValue, name, windows, now = Date.now }: RateLimitOptions): RateLimit {
  const active = windows.filter(({ limit }) => limit > 0);
  /** Only made when it is needed: it sets much memory aside. */
  let own: KeyValue | undefined;
  const addToCounters = batchCounts((changes) => keyValue.addToCounters(changes));

  async function count(changes: Parameters<KeyValue['addToCounters']>[0]): Promise<number[]> {
    if (keyValue.isHealthy()) {
      try {
        return await addToCounters(changes);
      } catch {
        // The store reports its own loss; counting goes on here.
      }
    }
    own ??= createInProcessKeyValue();
    return own.addToCounters(changes);
  }

  return {
    async take(subject) {
      if (active.length === 0) return null;
      const at = now() / 1000;
      const intervals = active.map(({ seconds }) => Math.floor(at / seconds));
      const counterOf = (index: number, back: number) => ({
        key: `rate:${name}:${subject}:${active[index]?.seconds}:${(intervals[index] ?? 0) - back}`,
        atLeast: 0,
        ttlSeconds: 2 * (active[index]?.seconds ?? 1),
      });
      const counts = await count(
        active.flatMap((_window, index) => [
          { ...counterOf(index, 0), by: 1 },
          { ...counterOf(index, 1), by: 0 },
        ]),
      );
      const waits = active.map((window, index) =>
        secondsToWait(window, {
          elapsed: at / window.seconds - (intervals[index] ?? 0),
          current: (counts[2 * index] ?? 1) - 1,
          previous: counts[2 * index + 1] ?? 0,
        }),
      );
      const wait = Math.max(...waits);
      if (wait <= 0) return null;
      await count(active.map((_window, index) => ({ ...counterOf(index, 0), by: -1 })));
      return Math.ceil(wait);
    },
  };
}

/**
 * How long until one more request fits, 0 for at once.
 * @param elapsed part of the current interval that has passed, 0 to 1.
 * @param current requests counted in this interval, `previous` in the one before.
 */
function secondsToWait(
  { seconds, limit }: RateWindow,
  { elapsed, current, previous }: { elapsed: number; current: number; previous: number },
): number {
  const room = limit - 1 - current;
  if (previous * (1 - elapsed) <= room) return 0;
  // In this interval while the one before fades, else in the next one while this one does.
  const fadesAt = room >= 0 ? 1 - room / previous : 2 - (limit - 1) / current;
  return Math.max((fadesAt - elapsed) * seconds, 0.001);
}

/** With `Retry-After` (docs/api-rules.md#rate-limits). */
export function throttled(seconds: number): AppError {
  return new AppError(
    'rate_limited',
    `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`,
    { code: 'throttled', retryAfterSeconds: seconds },
  );
}
