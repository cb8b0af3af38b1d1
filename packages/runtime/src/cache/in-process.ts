import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { KeyValueStore } from './key-value.ts';

/**
 * A key-value store in this process's memory. The process loses all values when it exits, and messages reach only
 * subscribers in the same process.
 */
export function createInProcessStore({ maxEntries = 100_000, maxCharacters = 64 * 2 ** 20 } = {}): KeyValueStore {
  const entries = new LRUCache<string, string>({
    max: maxEntries,
    maxSize: maxCharacters,
    sizeCalculation: (value, key) => key.length + value.length + 1,
  });
  const messages = new EventEmitter().setMaxListeners(0);
  return {
    get: async (key) => entries.get(key) ?? null,
    // The LRU cache treats a TTL of 0 as "never expires".
    set: async (key, value, ttlSeconds) => void entries.set(key, value, { ttl: Math.max(1, ttlSeconds * 1000) }),
    setIfAbsent: async (key, value, ttlSeconds) => {
      const isFree = entries.get(key) === undefined;
      if (isFree) entries.set(key, value, { ttl: Math.max(1, ttlSeconds * 1000) });
      return isFree;
    },
    addToCounters: async (changes) =>
      changes.map(({ key, by, atLeast, ttlSeconds }) => {
        const count = Math.max(Number(entries.get(key) ?? 0) + by, atLeast);
        entries.set(key, String(count), { ttl: Math.max(1, ttlSeconds * 1000) });
        return count;
      }),
    delete: async (key) => void entries.delete(key),
    // Without the prefix, a channel named "error" would be the emitter's error event.
    publish: async (channel, message) => void messages.emit(`channel ${channel}`, message),
    subscribe: async (channel, onMessage) => void messages.on(`channel ${channel}`, onMessage),
    isHealthy: () => true,
    stop: async () => {
      messages.removeAllListeners();
      entries.clear();
    },
  };
}
