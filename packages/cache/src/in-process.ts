import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { KeyValue } from './key-value.ts';

/** The port inside one process: bounded, lost at exit. Messages reach only this process. */
export function createInProcessKeyValue({ maxEntries = 100_000 } = {}): KeyValue {
  const entries = new LRUCache<string, string>({ max: maxEntries });
  const messages = new EventEmitter().setMaxListeners(0);
  return {
    get: async (key) => entries.get(key) ?? null,
    set: async (key, value, ttlSeconds) => void entries.set(key, value, { ttl: ttlSeconds * 1000 }),
    delete: async (key) => void entries.delete(key),
    publish: async (channel, message) => void messages.emit(channel, message),
    subscribe: async (channel, onMessage) => void messages.on(channel, onMessage),
    isHealthy: () => true,
    stop: async () => {
      messages.removeAllListeners();
      entries.clear();
    },
  };
}
