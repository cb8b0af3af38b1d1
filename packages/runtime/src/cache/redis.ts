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
 * A subscriber sends no commands, so without pings it would never detect a connection that was lost without an error.
 */
const subscriberPingMs = 5000;

const firstRetryMs = 100;

/** Use a script instead of a pipeline: the server runs it as one command, with one response and one time limit. */
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
 * Stores values in Redis. Commands fail immediately while the connection is down (there is no offline queue), and after
 * `commandTimeoutMs` if the server does not respond, so a Redis outage delays a request only briefly. If a response is
 * due and the connection receives nothing for `silenceTimeoutMs`, the store reconnects.
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
    // How long the driver waits for the server to close a connection, even a broken one. A higher limit would delay the
    // exit of the process.
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
        // A cluster accepts only commands whose keys are all on the same node.
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
 * Creates a connection that restores its subscriptions after it reconnects. It accepts subscriptions before it is
 * connected.
 */
function createSubscriber(connection: RedisConnection, options: ClientOptions): Subscriber {
  const client = createRedisClient(connection, {
    ...options,
    commandTimeout: undefined,
    // When the driver resubscribes automatically, it creates a promise that nothing handles. If the client is stopped
    // before the promise settles, its rejection crashes the process.
    autoResubscribe: false,
  });
  const disconnect = keepConnected(client, firstRetryMs);
  // Each subscription adds a listener, and the number of subscriptions is not limited.
  client.setMaxListeners(0);
  // Ignore connection errors here, because the command connection already reports them.
  client.on('error', () => {});
  watchSentinels(client, () => {});
  const channels = new Set<string>();
  // If subscribing fails, the client subscribes again after the next reconnect.
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
