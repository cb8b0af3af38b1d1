import { createRedisClient, watchSentinels } from './redis-client.ts';
import type { RedisConnection } from './redis-config.ts';

/** What a server says of itself; numbers are bytes. */
export interface RedisFacts {
  version: string;
  /** A replica takes no writes. */
  isReplica: boolean;
  usedMemory: number;
  /** 0: as much as the machine has. */
  maxMemory: number;
  /** What happens when it is full, e.g. `noeviction`. */
  policy: string;
  /** Memory of its machine; 0 when it does not say. */
  machineMemory: number;
  /** Whether it could save what it holds the last time it tried; where it has to and cannot, it takes no writes. */
  isSaved: boolean;
}

/** Asks the server, or one node of a cluster, once. @throws the driver's error when it does not answer. */
export async function inspectRedis(connection: RedisConnection, timeoutMs: number): Promise<RedisFacts> {
  const client = createRedisClient(connection, {
    commandTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    maxRetriesPerRequest: 1,
    retryStrategy: () => 100,
  });
  // The error of a command only says that it was given up.
  let lastError: unknown;
  client.on('error', (error) => {
    lastError = error;
  });
  watchSentinels(client, () => {});
  try {
    const facts = parseInfo(await client.info());
    return {
      version: facts.get('redis_version') ?? 'of an unknown version',
      isReplica: facts.get('role') === 'slave',
      usedMemory: Number(facts.get('used_memory') ?? 0),
      maxMemory: Number(facts.get('maxmemory') ?? 0),
      policy: facts.get('maxmemory_policy') ?? 'noeviction',
      machineMemory: Number(facts.get('total_system_memory') ?? 0),
      isSaved: ![facts.get('rdb_last_bgsave_status'), facts.get('aof_last_write_status')].includes('err'),
    };
  } catch (error) {
    throw lastError ?? error;
  } finally {
    client.disconnect();
  }
}

function parseInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\r\n').filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}
