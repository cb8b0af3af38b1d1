import type { KeyValue } from '@millrace/runtime/cache';
import { LRUCache } from 'lru-cache';

/**
 * Counters that all gateways share through the store. Nobody waits for it: counts are kept in the process and sent to
 * the store in batches. While the store is away, each process continues with its own counts.
 */
export interface SharedCounters {
  /**
   * Counts, at once, in this process.
   * @param by 0 asks the store for the count of a counter this process has not seen yet.
   * @param expiresAtMs when nobody needs the counter any more, milliseconds since the epoch.
   * @returns what all gateways have counted, as far as known here.
   */
  add(name: string, by: number, expiresAtMs: number): number;
  size(): number;
  /** Sends what is left to the store, if it answers. */
  stop(): Promise<void>;
}

interface Counter {
  name: string;
  /** The sum of all gateways as far as known, with counts that were not sent yet. */
  total: number;
  pending: number;
  expiresAtMs: number;
}

/** Counters in one command; the store needs less than a millisecond for some hundreds. */
const maxCountersPerFlush = 500;
/** Bounds the work of the store and of this process, whatever the number of projects. */
const minMsPerCounter = 1;
const restAfterFailureMs = 1000;

export function createSharedCounters(options: {
  store: Pick<KeyValue, 'addToCounters'>;
  now(): number;
  /** How long counts are gathered before they are sent to the store. */
  flushAfterMs: number;
  /** Called after each attempt, with the number of counters. */
  onFlush(outcome: 'ok' | 'failed', counters: number): void;
  maxCounters?: number;
}): SharedCounters {
  const { store, now, flushAfterMs, onFlush, maxCounters = 100_000 } = options;
  const counters = new LRUCache<string, Counter>({ max: maxCounters });
  const waiting = createWaitingCounters(maxCounters);
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> | undefined;

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
    if (timer !== undefined || underWay !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      underWay = flush().then((pauseMs) => {
        underWay = undefined;
        if (waiting.size() > 0) schedule(pauseMs);
      });
    }, afterMs).unref();
  }

  /** @returns how long to wait before the next one. */
  async function flush(): Promise<number> {
    const nowMs = now();
    const told = waiting.take(nowMs);
    if (told.length === 0) return flushAfterMs;
    try {
      const counts = await store.addToCounters(
        told.map(({ counter: { name, total, expiresAtMs }, by }) => ({
          key: name,
          by,
          atLeast: total,
          ttlSeconds: (expiresAtMs - nowMs) / 1000,
        })),
      );
      told.forEach(({ counter }, index) => {
        counter.total = Math.max(counter.total, (counts[index] ?? 0) + counter.pending);
      });
      onFlush('ok', told.length);
      return Math.max(flushAfterMs, told.length * minMsPerCounter);
    } catch {
      for (const { counter, by } of told) {
        counter.pending += by;
        waiting.add(counter);
      }
      onFlush('failed', told.length);
      return restAfterFailureMs;
    }
  }

  return {
    add,
    size: () => counters.size,
    async stop() {
      clearTimeout(timer);
      await underWay;
      clearTimeout(timer);
      for (let left = waiting.size(); left > 0; left = waiting.size()) {
        await flush();
        if (waiting.size() >= left) break;
      }
    },
  };
}

/** Counters that have counts to send or a question to ask; the longest waiting first. */
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
