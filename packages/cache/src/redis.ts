import { AppError } from '@millrace/errors';
import type { Logger } from '@millrace/runtime';
import { Redis, type RedisOptions } from 'ioredis';
import type { KeyValue } from './key-value.ts';
import type { RedisConnection } from './redis-config.ts';

/** How long a connection may be silent while an answer is due before it is given up and made anew. */
const silenceTimeoutMs = 1000;
/** A subscriber sends nothing by itself, so that a connection swallowed by the network would stay forever. */
const subscriberPingMs = 5000;

/** A script and not a pipeline: it is one command for the server, with one answer and one time limit. */
const addToCountersScript = `
local counts = {}
for i, key in ipairs(KEYS) do
  local count = redis.call('INCRBY', key, ARGV[3 * i - 2])
  if count < tonumber(ARGV[3 * i - 1]) then
    redis.call('SET', key, ARGV[3 * i - 1])
    count = tonumber(ARGV[3 * i - 1])
  end
  redis.call('PEXPIRE', key, ARGV[3 * i])
  counts[i] = count
end
return counts`;

/**
 * The port on Redis. Commands fail at once while the connection is down (no offline queue) and after
 * `commandTimeoutMs` when the server does not answer, so that a dead Redis costs milliseconds, not requests.
 */
export function createRedisKeyValue(
  connection: string | RedisConnection,
  logger: Logger,
  { commandTimeoutMs = 150, keyPrefix = 'millrace:' } = {},
): KeyValue {
  const { url, tls } = typeof connection === 'string' ? { url: connection, tls: undefined } : connection;
  const options = {
    ...(tls && { tls }),
    commandTimeout: commandTimeoutMs,
    connectTimeout: 1000,
    socketTimeout: silenceTimeoutMs,
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
  let subscriber: Subscriber | undefined;

  async function run<T>(command: () => Promise<T>): Promise<T> {
    try {
      return await command();
    } catch (cause) {
      throw new AppError('unavailable', 'The cache does not answer.', { cause });
    }
  }

  return {
    get: (key) => run(() => client.get(key)),
    set: (key, value, ttlSeconds) =>
      run(async () => void (await client.set(key, value, 'PX', toMilliseconds(ttlSeconds)))),
    addToCounters: (changes) =>
      run(async () => {
        if (changes.length === 0) return [];
        const keys = changes.map(({ key }) => key);
        const values = changes.flatMap(({ by, atLeast, ttlSeconds }) => [by, atLeast, toMilliseconds(ttlSeconds)]);
        return (await client.eval(addToCountersScript, keys.length, ...keys, ...values)) as number[];
      }),
    delete: (key) => run(async () => void (await client.del(key))),
    publish: (channel, message) => run(async () => void (await client.publish(keyPrefix + channel, message))),
    async subscribe(channel, onMessage) {
      subscriber ??= createSubscriber(url, options);
      subscriber.client.on('message', (name, message) => {
        if (name === keyPrefix + channel) onMessage(message);
      });
      subscriber.client
        .subscribe(keyPrefix + channel)
        .catch((error) => logger.warn('could not subscribe', { channel, error }));
    },
    isHealthy: () => client.status === 'ready',
    stop: async () => {
      client.disconnect();
      subscriber?.stop();
    },
  };
}

interface Subscriber {
  client: Redis;
  stop(): void;
}

/** The subscriber keeps its subscriptions over reconnects, so it may queue while the first connection is made. */
function createSubscriber(url: string, options: RedisOptions): Subscriber {
  const client = new Redis(url, {
    ...options,
    commandTimeout: undefined,
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
  });
  // One for each subscription, as many as there are.
  client.setMaxListeners(0);
  // The other connection reports the same trouble.
  client.on('error', () => {});
  const ping = setInterval(() => {
    if (client.status === 'ready') client.ping().catch(() => {});
  }, subscriberPingMs).unref();
  return {
    client,
    stop() {
      clearInterval(ping);
      client.disconnect();
    },
  };
}

function toMilliseconds(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}
