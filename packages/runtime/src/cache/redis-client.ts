// Connects to Redis: a single server, sentinels or a cluster.

import { Cluster, Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import type { RedisConnection } from './redis-config.ts';

export type RedisClient = Redis | Cluster;

export type ClientOptions = RedisOptions & { connectTimeout: number; retryStrategy(attempt: number): number };

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
    // The cluster emits `+node` before it connects to the node for the first time.
    cluster.on('+node', (node: Redis) => followCredentials(node.options, connection));
    return cluster;
  }
  const client = sentinel
    ? new Redis({
        ...server,
        sentinels: nodes,
        name: sentinel.master,
        failoverDetector: true,
        sentinelRetryStrategy: retryStrategy,
        // The driver applies its other time limits only to the server. Without this limit, it would wait indefinitely
        // for a sentinel that does not respond.
        sentinelCommandTimeout: options.connectTimeout,
        ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: tls }),
      })
    : new Redis({ ...server, ...nodes[0] });
  followCredentials(client.options, connection);
  return client;
}

/**
 * Reconnects after the driver has given up permanently. The driver gives up if the sentinels announce a new server
 * while it is requesting the server's address, which happens when a server fails.
 * @returns a function that closes the connection
 */
export function keepConnected(client: RedisClient, retryDelayMs: number): () => void {
  let isStopped = false;
  client.on('end', () => {
    if (isStopped) return;
    setTimeout(() => {
      // Ignore the result, because the client's events report whether the connection succeeds.
      if (!isStopped) client.connect().catch(() => {});
    }, retryDelayMs);
  });
  return () => {
    isStopped = true;
    client.disconnect();
  };
}

/**
 * Calls `tell` once when a sentinel stops responding, and again only after the sentinel has responded in between.
 * Reason: ioredis 6.0.0 does not handle errors of the connections on which sentinels announce a failover, and prints
 * them to standard error, bypassing the log. Relies on: `connector.connectToSentinel`, which creates these connections.
 * Test: redis-topologies.redis-server.test.ts. If ioredis changes, this function throws at startup. Remove it when the
 * driver handles these errors.
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

/** Makes the driver read the current credentials each time it connects. */
function followCredentials(options: RedisOptions, { credentials }: RedisConnection): void {
  for (const name of ['username', 'password', 'sentinelPassword'] as const) {
    if (options[name] === undefined || options[name] === null) continue;
    Object.defineProperty(options, name, { get: () => credentials()[name], enumerable: true, configurable: true });
  }
}
