import { readConfig } from '@millrace/runtime';
import { inspectRedis, type RedisConnection, redisConfigFields, redisConnection } from '@millrace/runtime/cache';
import { Type } from 'typebox';
import { checkPresented } from '../certificates/check-presented.ts';
import type { TlsServer } from '../certificates/tls-server.ts';
import { type NamedFinding, ok } from '../finding.ts';
import type { Patient } from '../patient.ts';
import { notReached, patienceMs, readPart } from '../reach.ts';
import { runChecks } from '../run-checks.ts';
import { checkRedis } from './check-redis.ts';

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
