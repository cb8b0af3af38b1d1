import type { CounterChange, KeyValue } from '@millrace/cache';

type AddToCounters = KeyValue['addToCounters'];

interface Waiting {
  changes: readonly CounterChange[];
  resolve(counts: number[]): void;
  reject(error: unknown): void;
}

/** What one command may hold (`KeyValue.addToCounters`). */
const maxChanges = 200;

/**
 * Sends the changes that are asked for in one turn of the event loop as one command, each counter once. Everyone gets
 * the counts as if the changes had been made one by one in the order they came. For changes with `atLeast` 0.
 */
export function batchCounts(addToCounters: AddToCounters): AddToCounters {
  let waiting: Waiting[] = [];
  let changeCount = 0;

  async function send(): Promise<void> {
    const batch = waiting;
    waiting = [];
    changeCount = 0;
    if (batch.length === 0) return;
    const sums = new Map<string, CounterChange>();
    for (const change of batch.flatMap(({ changes }) => changes)) {
      const before = sums.get(change.key);
      sums.set(change.key, { ...change, by: change.by + (before?.by ?? 0) });
    }
    try {
      const totals = await addToCounters([...sums.values()]);
      const counts = new Map([...sums.values()].map(({ key, by }, index) => [key, (totals[index] ?? 0) - by]));
      for (const { changes, resolve } of batch) {
        resolve(
          changes.map(({ key, by }) => {
            const count = (counts.get(key) ?? 0) + by;
            counts.set(key, count);
            return count;
          }),
        );
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (changes) =>
    new Promise((resolve, reject) => {
      waiting.push({ changes, resolve, reject });
      changeCount += changes.length;
      if (changeCount >= maxChanges) void send();
      else if (waiting.length === 1) process.nextTick(() => void send());
    });
}
