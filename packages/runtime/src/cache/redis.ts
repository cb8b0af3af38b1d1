import { AppError } from '../app-error.ts';
import type { Logger } from '../logger.ts';
import type { CounterChange, KeyValue } from './key-value.ts';
import {
  type ClientOptions,
  createRedisClient,
  keepConnected,
  type RedisClient,
  watchSentinels,
} from './redis-client.ts';
import { type RedisConnection, redisConnection } from './redis-config.ts';

/** A subscriber sends nothing by itself, so that a connection swallowed by the network would stay forever. */
const subscriberPingMs = 5000;

/** How long it takes until a lost connection is created again; longer the more often that has failed. */
const firstRetryMs = 100;

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

/** Without an address there is nothing to connect to. */
function connectionTo(redisUrl: string): RedisConnection {
  const connection = redisConnection({ redisUrl });
  if (connection === undefined) throw new Error('The Redis URL is empty.');
  return connection;
}

/**
 * The port on Redis. Commands fail at once while the connection is down (no offline queue) and after
 * `commandTimeoutMs` when the server does not answer, so that a dead Redis costs milliseconds, not requests. A connection that
 * is silent for `silenceTimeoutMs` while an answer is due is given up and created again.
 */
export function createRedisKeyValue(
  addressOrConnection: string | RedisConnection,
  logger: Logger,
  { commandTimeoutMs = 150, silenceTimeoutMs = 1000, keyPrefix = 'millrace:' } = {},
): KeyValue {
  const connection = typeof addressOrConnection === 'string' ? connectionTo(addressOrConnection) : addressOrConnection;
  const options = {
    commandTimeout: commandTimeoutMs,
    connectTimeout: 1000,
    // The driver waits so long for the other side to close, even of a connection that is gone, and the process waits with it.
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
        // The keys of one command have to be on one node of a cluster.
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

/** The subscriber keeps its subscriptions over reconnects, and they may be made before the first connection. */
function createSubscriber(connection: RedisConnection, options: ClientOptions): Subscriber {
  const client = createRedisClient(connection, {
    ...options,
    commandTimeout: undefined,
    // The driver's own way leaves a promise to nobody, whose failure ends the process when it is stopped meanwhile.
    autoResubscribe: false,
  });
  const disconnect = keepConnected(client, firstRetryMs);
  // One for each subscription, as many as there are.
  client.setMaxListeners(0);
  // The other connection reports the same trouble.
  client.on('error', () => {});
  watchSentinels(client, () => {});
  const channels = new Set<string>();
  // What breaks off is done again with the next connection.
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
