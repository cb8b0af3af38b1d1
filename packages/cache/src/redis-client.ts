import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisConnection } from './redis-config.ts';

export type RedisClient = Redis | Cluster;

export type ClientOptions = RedisOptions & { retryStrategy(attempt: number): number };

/** A client for what the connection describes: one server, the server that sentinels name, or a cluster. */
export function createRedisClient(connection: RedisConnection, options: ClientOptions): RedisClient {
  const { nodes, sentinel, isCluster, username, password, database, tls } = connection;
  const server: RedisOptions = {
    ...options,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { db: database }),
    ...(tls && { tls }),
  };
  const { retryStrategy, keyPrefix = '', enableOfflineQueue = true } = options;
  if (isCluster) {
    return new Cluster(nodes, {
      redisOptions: server,
      keyPrefix,
      enableOfflineQueue,
      clusterRetryStrategy: retryStrategy,
    });
  }
  if (sentinel) {
    return new Redis({
      ...server,
      sentinels: nodes,
      name: sentinel.master,
      ...(sentinel.password !== undefined && { sentinelPassword: sentinel.password }),
      // Told by the sentinels, and not only by a connection that broke.
      failoverDetector: true,
      sentinelRetryStrategy: retryStrategy,
      ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: tls }),
    });
  }
  return new Redis({ ...server, ...nodes[0] });
}
