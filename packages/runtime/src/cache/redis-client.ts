import { Cluster, Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import type { RedisConnection } from './redis-config.ts';

export type RedisClient = Redis | Cluster;

export type ClientOptions = RedisOptions & { connectTimeout: number; retryStrategy(attempt: number): number };

/** A client for what the connection describes: one server, the server that sentinels name, or a cluster. */
export function createRedisClient(connection: RedisConnection, options: ClientOptions): RedisClient {
  const { nodes, sentinel, isCluster, database, tls } = connection;
  const server: RedisOptions = {
    ...options,
    ...connection.credentials(),
    ...(database !== undefined && { db: database }),
    ...(tls && { tls }),
  };
  const { retryStrategy, keyPrefix = '', enableOfflineQueue = true } = options;
  if (isCluster) {
    const cluster = new Cluster(nodes, {
      redisOptions: server,
      keyPrefix,
      enableOfflineQueue,
      clusterRetryStrategy: retryStrategy,
    });
    // Before it connects for the first time.
    cluster.on('+node', (node: Redis) => followCredentials(node.options, connection));
    return cluster;
  }
  const client = sentinel
    ? new Redis({
        ...server,
        sentinels: nodes,
        name: sentinel.master,
        // Told by the sentinels, and not only by a connection that broke.
        failoverDetector: true,
        sentinelRetryStrategy: retryStrategy,
        // The driver's other limits are those of the server: a sentinel that says nothing would be asked for ever.
        sentinelCommandTimeout: options.connectTimeout,
        ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: tls }),
      })
    : new Redis({ ...server, ...nodes[0] });
  followCredentials(client.options, connection);
  return client;
}

/**
 * Connects again where the driver gives up for good: it does when sentinels tell it of another server in the moment in which it
 * asks them for one, which is when a server fails.
 *
 * @returns what ends the connection.
 */
export function keepConnected(client: RedisClient, retryDelayMs: number): () => void {
  let isStopped = false;
  client.on('end', () => {
    if (isStopped) return;
    setTimeout(() => {
      // How it goes is told by events.
      if (!isStopped) client.connect().catch(() => {});
    }, retryDelayMs);
  });
  return () => {
    isStopped = true;
    client.disconnect();
  };
}

/**
 * Tells of each sentinel that does not answer, once until it does.
 *
 * Reason: ioredis 6.0.0 listens to no errors of the connections on which sentinels tell of a failover, and prints each of
 * them to standard error, past the log.
 * Relies on: `connector.connectToSentinel`, which makes these connections.
 * Witness: redis-topologies.redis-server.test.ts. If ioredis changes, this throws at start.
 * May go: when the driver listens to them itself.
 */
export function watchSentinels(
  client: RedisClient,
  tell: (error: unknown, sentinel: { host: string; port: number }) => void,
): void {
  const connector: unknown = Reflect.get(client, 'connector');
  if (!(connector instanceof SentinelConnector)) return;
  const connect: unknown = Reflect.get(connector, 'connectToSentinel');
  if (typeof connect !== 'function') {
    throw new Error(
      'ioredis changed how it connects to sentinels. Review the handling of their errors in redis-client.ts.',
    );
  }
  const away = new Set<string>();
  Reflect.set(connector, 'connectToSentinel', (...how: unknown[]) => {
    const sentinel: unknown = connect.apply(connector, how);
    if (!(sentinel instanceof Redis)) return sentinel;
    const { host = '', port = 0 } = sentinel.options;
    const name = `${host}:${port}`;
    sentinel.on('ready', () => away.delete(name));
    sentinel.on('error', (error) => {
      if (!away.has(name)) tell(error, { host, port });
      away.add(name);
    });
    return sentinel;
  });
}

/** The driver looks at its options whenever it connects. */
function followCredentials(options: RedisOptions, { credentials }: RedisConnection): void {
  for (const name of ['username', 'password', 'sentinelPassword'] as const) {
    if (options[name] === undefined || options[name] === null) continue;
    Object.defineProperty(options, name, { get: () => credentials()[name], enumerable: true, configurable: true });
  }
}
