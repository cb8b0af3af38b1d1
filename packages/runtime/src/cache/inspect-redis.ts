// Reads a Redis server's version, memory usage and persistence settings.

import { createRedisClient, watchSentinels } from './redis-client.ts';
import type { RedisConnection } from './redis-config.ts';

/** Sizes are in bytes. */
export interface RedisInfo {
  version: string;
  isReplica: boolean;
  usedMemory: number;
  /** The `maxmemory` limit. 0 means that Redis can use all of the machine's memory. */
  maxMemory: number;
  policy: string;
  /** The machine's memory, or 0 if unknown. */
  machineMemory: number;
  /** Whether the last save to disk succeeded. If a save fails, Redis may reject writes. */
  isSaved: boolean;
}

/** Queries the server or one cluster node. @throws the driver's error if the server does not respond */
export async function inspectRedis(connection: RedisConnection, timeoutMs: number): Promise<RedisInfo> {
  const client = createRedisClient(connection, {
    commandTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    maxRetriesPerRequest: 1,
    retryStrategy: () => 100,
  });
  // A command's own error only says that the command was aborted, so use the connection error as the cause.
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
