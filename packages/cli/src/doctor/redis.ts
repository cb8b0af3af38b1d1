import { readConfig } from '@millrace/runtime';
import {
  inspectRedis,
  type RedisConnection,
  type RedisFacts,
  redisConfigFields,
  redisConnection,
} from '@millrace/runtime/cache';
import { Type } from 'typebox';
import { checkPresented, type TlsServer } from './certificates.ts';
import {
  type Finding,
  type NamedFinding,
  notReached,
  ok,
  type Patient,
  patienceMs,
  problem,
  readPart,
  runChecks,
  warning,
} from './checks.ts';

export async function diagnoseRedis({ env }: Patient): Promise<NamedFinding[]> {
  const read = readPart('redis', () => redisConnection(readConfig(Type.Object(redisConfigFields), env)));
  if ('problems' in read) return read.problems;
  const { value: connection } = read;
  if (connection === undefined) {
    return [{ check: 'redis', ...ok('REDIS_URL is not set: each process counts limits on its own') }];
  }
  return runChecks([
    { name: 'redis', look: () => lookAtRedis(connection) },
    { name: 'redis certificate', look: () => checkPresented(tlsServers(connection), patienceMs) },
  ]);
}

async function lookAtRedis(connection: RedisConnection) {
  try {
    return checkRedis(await inspectRedis(connection, patienceMs));
  } catch (error) {
    return [notReached(error, 'REDIS_URL')];
  }
}

/** Those of the address: what sentinels and clusters tell of others is not followed. */
function tlsServers({ nodes, tls }: RedisConnection): TlsServer[] {
  if (tls === undefined) return [];
  return nodes.map((node) => ({
    ...{ ...node, begins: 'at once', secureContext: tls.secureContext, isVerified: true },
    authoritySetting: 'REDIS_CA_FILE',
  }));
}

const fullAt = 0.9;

/** What limits and remembered keys need of the server. */
export function checkRedis(facts: RedisFacts): Finding[] {
  return [version(facts), memory(facts), ...saving(facts)];
}

function version({ version, isReplica }: RedisFacts): Finding {
  if (!isReplica) return ok(`Redis ${version} answers`);
  return problem(
    `Redis ${version} is a replica, which takes no writes: every process counts limits on its own`,
    'let REDIS_URL name the primary, or the sentinels with REDIS_MODE=sentinel',
  );
}

function memory({ maxMemory, usedMemory, machineMemory, policy }: RedisFacts): Finding {
  if (maxMemory === 0 && machineMemory > 0 && usedMemory >= fullAt * machineMemory) {
    return warning(
      `no limit of memory, and Redis holds ${Math.round((100 * usedMemory) / machineMemory)} % of what its machine has: the system will end it`,
      'give the machine more memory, or set maxmemory below it with maxmemory-policy noeviction',
    );
  }
  if (maxMemory === 0) return ok('no limit of memory, nothing is evicted');
  const used = `${Math.round((100 * usedMemory) / maxMemory)} % of ${Math.round(maxMemory / 1024 / 1024)} MiB used`;
  if (policy !== 'noeviction') {
    return warning(
      `maxmemory-policy ${policy} (${used}): when memory is full counters of limits are evicted, and quotas begin at 0 again`,
      'set maxmemory-policy noeviction on a Redis of its own for Millrace, with memory to spare',
    );
  }
  if (usedMemory < fullAt * maxMemory) return ok(`maxmemory-policy noeviction, ${used}`);
  return warning(
    `${used}: when it is full Redis takes no writes, and every process counts limits on its own`,
    'raise maxmemory',
  );
}

function saving({ isSaved }: RedisFacts): Finding[] {
  if (isSaved) return [];
  return [
    warning(
      'Redis could not save what it holds: unless stop-writes-on-bgsave-error is no, it takes no writes, and every process counts limits on its own',
      'look at its disk and its log; Millrace needs nothing saved: CONFIG SET save "" is enough',
    ),
  ];
}
