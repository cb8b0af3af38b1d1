/**
 * In so many batches a minute, the first event of each name is searched for properties. When many projects share a
 * batch, nearly every event is the first of its name, and searching one costs more than half as much as storing it.
 */
const looksPerMinute = 2;
const minuteMs = 60_000;
const maxRemembered = 100_000;

export interface Looks {
  /** False when enough was taken. */
  take(key: string, nowMs: number): boolean;
}

/** Counts what is taken of each key in a minute of the clock. */
export function createLooks(): Looks {
  const taken = new Map<string, number>();
  let minute = 0;
  return {
    take(key, nowMs) {
      const current = Math.floor(nowMs / minuteMs);
      if (current !== minute || taken.size >= maxRemembered) taken.clear();
      minute = current;
      const count = taken.get(key) ?? 0;
      if (count >= looksPerMinute) return false;
      taken.set(key, count + 1);
      return true;
    },
  };
}
