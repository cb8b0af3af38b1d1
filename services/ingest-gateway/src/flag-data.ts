import { isTransientError, type ProjectChanges, type Sql } from '@millrace/db/sql';
import type { CompiledFlags } from '@millrace/flags';
import {
  createFlagDefinitions,
  createFlagDocuments,
  type FlagDocument,
  type VersionedMemory,
} from '@millrace/flags/store';
import { AppError, isAppError, type Metrics, type Stoppable } from '@millrace/runtime';
import { requirePossible } from './access/authorize.ts';
import type { KnownProject } from './access/project-key-store.ts';
import type { ProjectKeys } from './access/project-keys.ts';
import {
  createCircuitBreaker,
  createSlots,
  type SlotLimits,
  storeTimeLimits,
  withTimeLimit,
} from './access/store-limits.ts';

/** What flags are answered from. */
export interface FlagData {
  definitions: VersionedMemory<CompiledFlags>;
  documents: VersionedMemory<FlagDocument>;
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
  /** For definitions; documents, which are compressed, may take a quarter of it beside. */
  memoryBytes: number;
  metrics: Metrics;
}): FlagData {
  const asked = metrics.counter(
    'millrace_flag_definitions_asked_total',
    'PostgreSQL queries for flag definitions, by purpose (definitions, document) and outcome (loaded, unchanged, failed)',
    ['what', 'outcome'],
  );
  const bytes = metrics.gauge('millrace_flag_definitions_bytes', 'Estimated size of the flag definitions in memory', [
    'what',
  ]);
  const resting = metrics.gauge(
    'millrace_flag_database_resting',
    '1 while flag requests do not query PostgreSQL because PostgreSQL failed to respond three times in a row, otherwise 0',
  );
  const memory = (what: 'definitions' | 'document', maxBytes: number) => ({
    sql: database.definitions,
    changes,
    maxBytes,
    onAsked: (outcome: string) => asked.inc({ what, outcome }),
  });
  const definitions = createFlagDefinitions(memory('definitions', memoryBytes));
  const documents = createFlagDocuments(memory('document', memoryBytes / 4));
  Object.assign(bytes, {
    collect() {
      bytes.set({ what: 'definitions' }, definitions.usedBytes());
      bytes.set({ what: 'document' }, documents.usedBytes());
    },
  });
  Object.assign(resting, { collect: () => resting.set(database.isResting() ? 1 : 0) });
  return { definitions, documents, database };
}

/** The database as flags may use it: a question is answered soon, or not at all. */
export interface FlagDatabase {
  /** For what belongs to one request: it waits a quarter of a second. */
  requests: Sql;
  /** For definitions: they may be large, and are remembered. */
  definitions: Sql;
  /** Whether nothing is asked at the moment, because the database does not answer. */
  isResting(): boolean;
}

/** Connections of the pool for definitions. */
export const definitionConnections = 2;
const restAfterFailureMs = 1000;
/** A single connection may be ended on purpose. */
const failuresToOpen = 3;

/**
 * Each kind has connections, a queue and a breaker of its own: where many ask for what is stored, changes of flags are
 * heard of all the same.
 *
 * @param pools what is given up continues in the database for a while, so they share no connections either.
 * @param connections how many the pool for requests has: the time limit shall measure the database and not a queue in
 * front of it.
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
    const asked: Sql = {
      query: (text, values) => slots.run(() => breaker.run(() => withTimeLimit(sql.query(text, values), limitMs))),
    };
    return { sql: asked, isOpen: breaker.isOpen };
  };
  const requests = within(pools.requests, {
    ...{ max: connections, maxWaiting: 500, waitMs: timeLimits.flagDataTurnMs },
    limitMs: timeLimits.flagDataMs,
  });
  const definitions = within(pools.definitions, {
    ...{ max: definitionConnections, maxWaiting: 500, waitMs: timeLimits.definitionsTurnMs },
    limitMs: timeLimits.definitionsMs,
  });
  return {
    requests: requests.sql,
    definitions: definitions.sql,
    isResting: () => requests.isOpen() || definitions.isOpen(),
  };
}

const everyMs = 500;

/**
 * Asks the database again and again until it has answered once. A gateway that was just started knows no definitions: were
 * it ready without the database, it would take the place of one that still knows them.
 */
export function awaitFirstAnswer(sql: Sql): Stoppable & { hasAnswered(): boolean } {
  let hasAnswered = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function ask(): Promise<void> {
    try {
      await sql.query('SELECT 1');
      hasAnswered = true;
    } catch {
      if (!isStopped) timer = setTimeout(() => void ask(), everyMs);
    }
  }

  void ask();
  return {
    hasAnswered: () => hasAnswered,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/**
 * Whether an environment has active flags. Browsers that hear of none do not ask, so what cannot be found out counts as yes.
 * @param environmentId null when it is not known whose key it is.
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
 * The project whose key it is. Other than for events nothing is answered on trust: SDKs keep what they have on an error,
 * and forget it on an empty answer.
 *
 * @throws AppError `unauthenticated`, `unavailable`.
 */
export async function findFlagProject(token: string, projectKeys: ProjectKeys): Promise<KnownProject> {
  const found = await projectKeys.find(token);
  requirePossible(found.outcome, 'token');
  if (found.outcome === 'known') return found.project;
  throw new AppError('unavailable', 'Could not check the API key. Try again in a moment.');
}
