import type { KeyValueStore } from '@millrace/runtime/cache';
import { LRUCache } from 'lru-cache';

/**
 * Counters that all gateways share through the key-value store. Requests never wait for the store, because the process
 * sends its counts in batches. While the store is down, each process continues with its own counts.
 */
export interface SharedCounters {
  /**
   * Adds to a counter in this process.
   * @param by the number to add. If it is 0, only requests a new counter's count from the store
   * @param expiresAtMs when the counter can be deleted, in milliseconds since the epoch
   * @returns the total of all gateways, as far as it is known
   */
  add(name: string, by: number, expiresAtMs: number): number;
  size(): number;
  /** Sends the remaining counts, if the store responds. */
  stop(): Promise<void>;
}

interface Counter {
  name: string;
  /** The total of all gateways as far as it is known, including counts that this process has not sent yet. */
  total: number;
  pending: number;
  expiresAtMs: number;
}

/** The maximum number of counters per command. The store takes less than a millisecond for a few hundred counters. */
const maxCountersPerFlush = 500;
/** The minimum delay between flushes per sent counter, which limits the load however many projects exist. */
const minMsPerCounter = 1;
const restAfterFailureMs = 1000;

export function createSharedCounters(options: {
  store: Pick<KeyValueStore, 'addToCounters'>;
  now(): number;
  flushAfterMs: number;
  onFlush(outcome: 'ok' | 'failed', counters: number): void;
  maxCounters?: number;
}): SharedCounters {
  const { store, now, flushAfterMs, onFlush, maxCounters = 100_000 } = options;
  const counters = new LRUCache<string, Counter>({ max: maxCounters });
  const waiting = createWaitingCounters(maxCounters);
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;

  function add(name: string, by: number, expiresAtMs: number): number {
    let counter = counters.get(name);
    if (counter === undefined) {
      counter = { name, total: 0, pending: 0, expiresAtMs };
      counters.set(name, counter);
    } else if (by === 0) return counter.total;
    counter.total += by;
    counter.pending += by;
    waiting.add(counter);
    schedule(flushAfterMs);
    return counter.total;
  }

  function schedule(afterMs: number): void {
    if (timer !== undefined || flushing !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      flushing = flush().then((pauseMs) => {
        flushing = undefined;
        if (waiting.size() > 0) schedule(pauseMs);
      });
    }, afterMs).unref();
  }

  /** Sends the counts that are due. @returns how long to wait before the next flush */
  async function flush(): Promise<number> {
    const nowMs = now();
    const sent = waiting.take(nowMs);
    if (sent.length === 0) return flushAfterMs;
    try {
      const counts = await store.addToCounters(
        sent.map(({ counter: { name, total, expiresAtMs }, by }) => ({
          key: name,
          by,
          atLeast: total,
          ttlSeconds: (expiresAtMs - nowMs) / 1000,
        })),
      );
      sent.forEach(({ counter }, index) => {
        counter.total = Math.max(counter.total, (counts[index] ?? 0) + counter.pending);
      });
      onFlush('ok', sent.length);
      return Math.max(flushAfterMs, sent.length * minMsPerCounter);
    } catch {
      for (const { counter, by } of sent) {
        counter.pending += by;
        waiting.add(counter);
      }
      onFlush('failed', sent.length);
      return restAfterFailureMs;
    }
  }

  return {
    add,
    size: () => counters.size,
    async stop() {
      clearTimeout(timer);
      await flushing;
      clearTimeout(timer);
      for (let left = waiting.size(); left > 0; left = waiting.size()) {
        await flush();
        if (waiting.size() >= left) break;
      }
    },
  };
}

/** The counters whose counts have not been sent, oldest first. */
function createWaitingCounters(most: number) {
  const waiting = new Map<string, Counter>();
  return {
    size: () => waiting.size,
    add(counter: Counter): void {
      waiting.set(counter.name, counter);
      if (waiting.size <= most) return;
      const [oldest] = waiting.keys();
      if (oldest !== undefined) waiting.delete(oldest);
    },
    take(nowMs: number): { counter: Counter; by: number }[] {
      const taken: { counter: Counter; by: number }[] = [];
      for (const [name, counter] of waiting) {
        waiting.delete(name);
        if (counter.expiresAtMs <= nowMs) continue;
        taken.push({ counter, by: counter.pending });
        counter.pending = 0;
        if (taken.length === maxCountersPerFlush) break;
      }
      return taken;
    },
  };
}
