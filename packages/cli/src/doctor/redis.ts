// Checks of `millrace doctor` for Redis.

import { readConfig } from '@millrace/runtime';
import {
  inspectRedis,
  type RedisConnection,
  type RedisInfo,
  redisConfigFields,
  toRedisConnection,
} from '@millrace/runtime/cache';
import { Type } from 'typebox';
import { checkPresentedCertificates, type TlsServer } from './certificates.ts';
import {
  type CheckedInstallation,
  connectTimeoutMs,
  createUnreachableFinding,
  type Finding,
  type NamedFinding,
  ok,
  problem,
  readSomeSettings,
  runChecks,
  warning,
} from './checks.ts';

export async function diagnoseRedis({ env }: CheckedInstallation): Promise<NamedFinding[]> {
  const read = readSomeSettings('redis', () => toRedisConnection(readConfig(Type.Object(redisConfigFields), env)));
  if ('problems' in read) return read.problems;
  const { value: connection } = read;
  if (connection === undefined) {
    return [{ check: 'redis', ...ok('REDIS_URL is not set, so each process counts limits separately') }];
  }
  return runChecks([
    { name: 'redis', run: () => diagnoseServer(connection) },
    { name: 'redis certificate', run: () => checkPresentedCertificates(tlsServers(connection), connectTimeoutMs) },
  ]);
}

async function diagnoseServer(connection: RedisConnection) {
  try {
    return checkRedis(await inspectRedis(connection, connectTimeoutMs));
  } catch (error) {
    return [createUnreachableFinding(error, 'REDIS_URL')];
  }
}

/** Returns the nodes in the Redis URL. Nodes that a sentinel or cluster reports are not checked. */
function tlsServers({ nodes, tls }: RedisConnection): TlsServer[] {
  if (tls === undefined) return [];
  return nodes.map((node) => ({
    ...node,
    begins: 'at once',
    secureContext: tls.secureContext,
    isVerified: true,
    authoritySetting: 'REDIS_CA_FILE',
  }));
}

const fullAt = 0.9;

/** Checks the memory and persistence settings of Redis, which rate limits and quotas depend on. */
export function checkRedis(facts: RedisInfo): Finding[] {
  return [version(facts), memory(facts), ...saving(facts)];
}

function version({ version, isReplica }: RedisInfo): Finding {
  if (!isReplica) return ok(`Redis ${version} responds`);
  return problem(
    `Redis ${version} is a read-only replica, so each process counts limits separately`,
    'Set REDIS_URL to the primary, or to the sentinels with REDIS_MODE=sentinel.',
  );
}

function memory({ maxMemory, usedMemory, machineMemory, policy }: RedisInfo): Finding {
  if (maxMemory === 0 && machineMemory > 0 && usedMemory >= fullAt * machineMemory) {
    return warning(
      `Redis has no memory limit and uses ${Math.round((100 * usedMemory) / machineMemory)}% of its machine's memory: ` +
        'the operating system may kill it',
      "Add memory to the machine, or set maxmemory below the machine's memory, with maxmemory-policy noeviction.",
    );
  }
  if (maxMemory === 0) return ok('no memory limit, so nothing is evicted');
  const used = `${Math.round((100 * usedMemory) / maxMemory)}% of ${Math.round(maxMemory / 1024 / 1024)} MiB used`;
  if (policy !== 'noeviction') {
    return warning(
      `maxmemory-policy is ${policy} (${used}): when memory is full, Redis evicts limit counters, and quotas start again at 0`,
      'Use a separate Redis for Millrace, with maxmemory-policy noeviction and spare memory.',
    );
  }
  if (usedMemory < fullAt * maxMemory) return ok(`maxmemory-policy is noeviction, ${used}`);
  return warning(
    `${used}: when memory is full, Redis rejects writes, and each process counts limits separately`,
    'Raise maxmemory.',
  );
}

function saving({ isSaved }: RedisInfo): Finding[] {
  if (isSaved) return [];
  return [
    warning(
      'Redis could not save its data: Redis rejects writes unless stop-writes-on-bgsave-error is set to no, and each ' +
        'process counts limits separately',
      'Check the Redis disk and log. Millrace does not need Redis persistence. To turn it off, run CONFIG SET save "".',
    ),
  ];
}
