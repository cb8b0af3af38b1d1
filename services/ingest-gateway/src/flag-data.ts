// Loads the data for evaluating flags, and limits how long requests wait for the database.

import { isTransientError, type ProjectChanges, type Sql } from '@millrace/db/sql';
import type { CompiledFlags } from '@millrace/flags';
import {
  createFlagDefinitionCache,
  createFlagDocumentCache,
  type FlagDocument,
  type VersionedCache,
} from '@millrace/flags/store';
import { AppError, isAppError, type Metrics, type Stoppable } from '@millrace/runtime';
import { rejectUnusableLookup } from './access/authorize.ts';
import type { KnownProject } from './access/project-key-store.ts';
import type { ProjectKeys } from './access/project-keys.ts';
import {
  createCircuitBreaker,
  createSlots,
  type SlotLimits,
  storeTimeLimits,
  withTimeLimit,
} from './access/store-limits.ts';

export interface FlagData {
  definitions: VersionedCache<CompiledFlags>;
  documents: VersionedCache<FlagDocument>;
  database: FlagDatabase;
}

export function createFlagData({
  database,
  changes,
  memoryBytes,
  metrics,
}: {
  database: FlagDatabase;
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;
  /** The maximum memory for definitions in bytes. Compressed documents can use an additional quarter of it. */
  memoryBytes: number;
  metrics: Metrics;
}): FlagData {
  const queries = metrics.counter(
    'millrace_flag_definitions_queries_total',
    'PostgreSQL queries for flag definitions, by purpose (definitions, document) and outcome (loaded, unchanged, failed)',
    ['what', 'outcome'],
  );
  const bytes = metrics.gauge('millrace_flag_definitions_bytes', 'Estimated size of the flag definitions in memory', [
    'what',
  ]);
  const resting = metrics.gauge(
    'millrace_flag_circuit_breaker_open',
    '1 while flag requests do not query PostgreSQL because PostgreSQL failed to respond three times in a row, otherwise 0',
  );
  const memory = (what: 'definitions' | 'document', maxBytes: number) => ({
    sql: database.definitions,
    changes,
    maxBytes,
    onLookup: (outcome: string) => queries.inc({ what, outcome }),
  });
  const definitions = createFlagDefinitionCache(memory('definitions', memoryBytes));
  const documents = createFlagDocumentCache(memory('document', memoryBytes / 4));
  Object.assign(bytes, {
    collect() {
      bytes.set({ what: 'definitions' }, definitions.usedBytes());
      bytes.set({ what: 'document' }, documents.usedBytes());
    },
  });
  Object.assign(resting, { collect: () => resting.set(database.isCircuitOpen() ? 1 : 0) });
  return { definitions, documents, database };
}

/** PostgreSQL connections for flags. Each query returns or fails within a short time. */
export interface FlagDatabase {
  /** Runs the queries of single requests. Each query waits at most 250 ms for a connection and its result. */
  requests: Sql;
  definitions: Sql;
  isCircuitOpen(): boolean;
}

export const definitionConnections = 2;
const restAfterFailureMs = 1000;
/**
 * How many consecutive failures suspend queries. A single failure is not enough, because one connection may have been
 * closed on purpose.
 */
const failuresToOpen = 3;

/**
 * Limits queries to PostgreSQL. Requests and definitions have separate connections, queues and circuit breakers, so
 * that many flag requests do not delay new definitions.
 * @param pools the pools, which are separate because queries that timed out continue to run in PostgreSQL for a while
 * @param connections the size of the request pool, and the maximum number of concurrent request queries. Because they
 * are equal, the time limit measures PostgreSQL and not the wait for a connection.
 */
export function createFlagDatabase(
  pools: Record<'requests' | 'definitions', Sql>,
  connections: number,
  { timeLimits = storeTimeLimits, restMs = restAfterFailureMs } = {},
): FlagDatabase {
  const isFailure = (error: unknown) => isTransientError(error) || isAppError(error, 'unavailable');
  const within = (sql: Sql, { limitMs, ...limits }: SlotLimits & { limitMs: number }) => {
    const slots = createSlots(limits);
    const breaker = createCircuitBreaker({ restMs, failuresToOpen, isFailure });
    const limited: Sql = {
      query: (text, values) => slots.run(() => breaker.run(() => withTimeLimit(sql.query(text, values), limitMs))),
    };
    return { sql: limited, isOpen: breaker.isOpen };
  };
  const requests = within(pools.requests, {
    max: connections,
    maxWaiting: 500,
    waitMs: timeLimits.flagDataQueueMs,
    limitMs: timeLimits.flagDataMs,
  });
  const definitions = within(pools.definitions, {
    max: definitionConnections,
    maxWaiting: 500,
    waitMs: timeLimits.definitionsQueueMs,
    limitMs: timeLimits.definitionsMs,
  });
  return {
    requests: requests.sql,
    definitions: definitions.sql,
    isCircuitOpen: () => requests.isOpen() || definitions.isOpen(),
  };
}

const everyMs = 500;

/**
 * Queries PostgreSQL until it has responded once. A new gateway has no definitions in memory. If it became ready
 * without PostgreSQL, it would replace a gateway that still has definitions.
 */
export function awaitFirstResponse(sql: Sql): Stoppable & { hasResponded(): boolean } {
  let hasResponded = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function ask(): Promise<void> {
    try {
      await sql.query('SELECT 1');
      hasResponded = true;
    } catch {
      if (!isStopped) timer = setTimeout(() => void ask(), everyMs);
    }
  }

  void ask();
  return {
    hasResponded: () => hasResponded,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/**
 * Returns whether an environment has active flags. Returns true if this is unknown, because a browser does not request
 * flags after `false`.
 * @param environmentId null if the key could not be looked up
 */
export async function hasFlags(environmentId: number | null, { definitions }: FlagData): Promise<boolean> {
  if (environmentId === null) return true;
  try {
    return (await definitions.get(environmentId)).inOrder.length > 0;
  } catch {
    return true;
  }
}

/**
 * Finds an API key's project. Unlike for events, rejects a key that cannot be looked up: SDKs keep their flags after an
 * error, but would delete them after an empty response.
 * @throws AppError `unauthenticated` or `unavailable`
 */
export async function findFlagProject(token: string, projectKeys: ProjectKeys): Promise<KnownProject> {
  const found = await projectKeys.find(token);
  rejectUnusableLookup(found.outcome, 'token');
  if (found.outcome === 'known') return found.project;
  throw new AppError('unavailable', 'Could not check the API key. Try again in a moment.');
}
