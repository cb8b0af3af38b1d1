import { AppError } from '@millrace/errors';
import type { Logger } from '@millrace/runtime';
import { Redis } from 'ioredis';
import type { KeyValue } from './key-value.ts';

/**
 * The port on Redis. Commands fail at once while the connection is down (no offline queue) and after
 * `commandTimeoutMs` when the server does not answer, so that a dead Redis costs milliseconds, not requests.
 */
export function createRedisKeyValue(
  url: string,
  logger: Logger,
  { commandTimeoutMs = 150, keyPrefix = 'millrace:' } = {},
): KeyValue {
  const options = {
    commandTimeout: commandTimeoutMs,
    connectTimeout: 1000,
    enableOfflineQueue: false,
    keyPrefix,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt: number) => Math.min(100 * attempt, 2000),
  };
  const client = new Redis(url, options);
  let wasReported = false;
  client.on('ready', () => {
    if (wasReported) logger.info('Redis is back');
    wasReported = false;
  });
  client.on('error', (error) => {
    if (!wasReported) logger.warn('Redis cannot be reached; going on without it', { error });
    wasReported = true;
  });
  let subscriber: Redis | undefined;

  async function run<T>(command: () => Promise<T>): Promise<T> {
    try {
      return await command();
    } catch (cause) {
      throw new AppError('unavailable', 'The cache does not answer.', { cause });
    }
  }

  return {
    get: (key) => run(() => client.get(key)),
    set: (key, value, ttlSeconds) => run(async () => void (await client.set(key, value, 'EX', ttlSeconds))),
    delete: (key) => run(async () => void (await client.del(key))),
    publish: (channel, message) => run(async () => void (await client.publish(keyPrefix + channel, message))),
    async subscribe(channel, onMessage) {
      if (!subscriber) {
        // The subscriber keeps its subscriptions over reconnects, so it may queue while the first connection is made.
        subscriber = new Redis(url, {
          ...options,
          commandTimeout: undefined,
          enableOfflineQueue: true,
          maxRetriesPerRequest: null,
        });
        subscriber.on('error', () => {});
      }
      subscriber.on('message', (name, message) => {
        if (name === keyPrefix + channel) onMessage(message);
      });
      subscriber
        .subscribe(keyPrefix + channel)
        .catch((error) => logger.warn('could not subscribe', { channel, error }));
    },
    isHealthy: () => client.status === 'ready',
    stop: async () => {
      client.disconnect();
      subscriber?.disconnect();
    },
  };
}
