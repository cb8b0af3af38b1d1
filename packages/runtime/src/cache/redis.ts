// The key-value store in Redis.

import { AppError } from '../app-error.ts';
import type { Logger } from '../logger.ts';
import type { CounterChange, KeyValueStore } from './key-value.ts';
import {
  type ClientOptions,
  createRedisClient,
  keepConnected,
  type RedisClient,
  watchSentinels,
} from './redis-client.ts';
import { type RedisConnection, toRedisConnection } from './redis-config.ts';

/**
 * The interval of pings on a subscriber connection. Without pings, a connection that was lost without an error would
 * never be detected.
 */
const subscriberPingMs = 5000;

/** The delay before the first reconnection attempt, which increases with each failed attempt. */
const firstRetryMs = 100;

/**
 * A script instead of a pipeline, because the server runs a script as one command, with one response and one time
 * limit.
 */
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

function connectionTo(redisUrl: string): RedisConnection {
  const connection = toRedisConnection({ redisUrl });
  if (connection === undefined) throw new Error('The Redis URL is empty.');
  return connection;
}

/**
 * Stores values in Redis. Commands fail immediately while the connection is down (without an offline queue), and after
 * `commandTimeoutMs` if the server does not respond. A Redis outage therefore delays a request by milliseconds instead
 * of failing it. A connection that sends nothing for `silenceTimeoutMs` while a response is due is closed and opened
 * again.
 */
export function createRedisStore(
  addressOrConnection: string | RedisConnection,
  logger: Logger,
  { commandTimeoutMs = 150, silenceTimeoutMs = 1000, keyPrefix = 'millrace:' } = {},
): KeyValueStore {
  const connection = typeof addressOrConnection === 'string' ? connectionTo(addressOrConnection) : addressOrConnection;
  const options = {
    commandTimeout: commandTimeoutMs,
    connectTimeout: 1000,
    // The driver waits this long for the server to close a connection, even a broken one. A longer wait would delay the
    // end of the process.
    disconnectTimeout: 100,
    socketTimeout: silenceTimeoutMs,
    enableOfflineQueue: false,
    keyPrefix,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt: number) => Math.min(firstRetryMs * attempt, 2000),
  };
  const client = createRedisClient(connection, options);
  const disconnect = keepConnected(client, firstRetryMs);
  let wasReported = false;
  client.on('ready', () => {
    if (wasReported) logger.info('Redis is reachable again');
    wasReported = false;
  });
  client.on('error', (error) => {
    if (!wasReported) logger.warn('Redis is unreachable; continuing without it', { error });
    wasReported = true;
  });
  watchSentinels(client, (error, sentinel) => {
    logger.warn('Redis sentinel is not responding', { ...sentinel, error });
  });
  let subscriber: Subscriber | undefined;

  async function run<T>(command: () => Promise<T>): Promise<T> {
    try {
      return await command();
    } catch (cause) {
      throw new AppError('unavailable', 'Redis does not respond.', { cause });
    }
  }

  return {
    get: (key) => run(() => client.get(key)),
    set: (key, value, ttlSeconds) =>
      run(async () => void (await client.set(key, value, 'PX', toMilliseconds(ttlSeconds)))),
    setIfAbsent: (key, value, ttlSeconds) =>
      run(async () => (await client.set(key, value, 'PX', toMilliseconds(ttlSeconds), 'NX')) === 'OK'),
    addToCounters: (changes) =>
      run(async () => {
        if (changes.length === 0) return [];
        // In a cluster, all keys of a command must be on the same node.
        const commands = connection.isCluster ? changes.map((change) => [change]) : [changes];
        return (await Promise.all(commands.map((some) => changeCounters(client, some)))).flat();
      }),
    delete: (key) => run(async () => void (await client.del(key))),
    publish: (channel, message) => run(async () => void (await client.publish(keyPrefix + channel, message))),
    async subscribe(channel, onMessage) {
      subscriber ??= createSubscriber(connection, options);
      subscriber.client.on('message', (name, message) => {
        if (name === keyPrefix + channel) onMessage(message);
      });
      subscriber.listenTo(keyPrefix + channel);
    },
    isHealthy: () => client.status === 'ready',
    stop: async () => {
      disconnect();
      subscriber?.stop();
    },
  };
}

interface Subscriber {
  client: RedisClient;
  listenTo(channel: string): void;
  stop(): void;
}

/**
 * Creates a connection that restores its subscriptions after a reconnect. Subscriptions can be created before the first
 * connection.
 */
function createSubscriber(connection: RedisConnection, options: ClientOptions): Subscriber {
  const client = createRedisClient(connection, {
    ...options,
    commandTimeout: undefined,
    // When the driver subscribes again automatically, it creates a promise that nothing handles. If the client is
    // stopped in the meantime, the rejection of that promise would crash the process.
    autoResubscribe: false,
  });
  const disconnect = keepConnected(client, firstRetryMs);
  // The number of subscriptions is not limited, and each subscription adds a listener.
  client.setMaxListeners(0);
  // The connection for commands already reports these errors.
  client.on('error', () => {});
  watchSentinels(client, () => {});
  const channels = new Set<string>();
  // A failed attempt is repeated after the next connection.
  const subscribe = (...some: string[]) => void client.subscribe(...some).catch(() => {});
  client.on('ready', () => {
    if (channels.size > 0) subscribe(...channels);
  });
  const ping = setInterval(() => {
    if (client.status === 'ready') client.ping().catch(() => {});
  }, subscriberPingMs).unref();
  return {
    client,
    listenTo(channel) {
      channels.add(channel);
      if (client.status === 'ready') subscribe(channel);
    },
    stop() {
      clearInterval(ping);
      disconnect();
    },
  };
}

async function changeCounters(client: RedisClient, changes: readonly CounterChange[]): Promise<number[]> {
  const keys = changes.map(({ key }) => key);
  const values = changes.flatMap(({ by, atLeast, ttlSeconds }) => [by, atLeast, toMilliseconds(ttlSeconds)]);
  return (await client.eval(addToCountersScript, keys.length, ...keys, ...values)) as number[];
}

function toMilliseconds(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}
