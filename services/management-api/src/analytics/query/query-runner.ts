// Runs insight queries: returns cached results, computes missing ones, and limits the time, memory and concurrency of
// queries.

import { formatDateTime } from '@millrace/http';
import {
  createBudgetError,
  findSource,
  narrowingAdvice,
  OverBudget,
  overrideFilters,
  overrideVariables,
  type ProjectSettings,
  type QueryDeps,
  type QueryResult,
  readProjectSettings,
  readPropertyTypesInQuery,
  runQuery,
} from '@millrace/insights';
import { AppError, type Logger, sleep } from '@millrace/runtime';
import type { KeyValueStore } from '@millrace/runtime/cache';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { requireReferencedRecords } from '../../access/named-records.ts';
import type { Searches } from '../../access/searches.ts';
import { createBackgroundRuns, type QueryStatus, type RunOf, type RunOwner } from './background-runs.ts';
import {
  type CachedResult,
  createCacheKey,
  createResultCache,
  defaultIfUnavailable,
  findMaxAges,
  recommendedRefreshDelayMs,
} from './result-cache.ts';
import { createSharedRuns } from './shared-runs.ts';

export const refreshModes = [
  ...(['blocking', 'force_blocking', 'async', 'lazy_async', 'force_async', 'async_except_on_cache_miss'] as const),
  'force_cache',
] as const;
export type RefreshMode = (typeof refreshModes)[number];

export interface QueryRunRequest {
  query: unknown;
  filters?: unknown;
  /** Values that replace those of the variables in an SQL query. */
  variables?: unknown;
  /** Whether the result is returned as a file. Without a LIMIT, a file can contain more rows than other results. */
  isFile?: boolean;
  refresh: RefreshMode;
  /** Aborts when the client no longer waits for the result. */
  signal: AbortSignal;
  now?: Date;
  /** Describes the background run, if the query runs in the background. */
  run?: Omit<RunOf, keyof RunOwner>;
}

/** A query result with its times and cache key, which clients store together with the result. */
export interface QueryResponse extends QueryResult {
  is_cached: boolean;
  last_refresh: string;
  next_allowed_client_refresh: string;
  cache_target_age: string;
  cache_key: string;
}

/**
 * The result that is available immediately, and the status of a background run. Both are null if no result is cached
 * and the request does not allow computing one.
 */
export interface QueryOutcome {
  result: QueryResponse | null;
  status: QueryStatus | null;
}

export interface QueryCaller {
  /** The caller. The number of concurrent computations is limited for each credential ID. */
  caller: { credential: Pick<Caller['credential'], 'id'> & { kind: Caller['credential']['kind'] | 'link' } };
  target: AddressedProject;
}

export type QueryRunner = ReturnType<typeof createQueryRunner>;

interface QueryRunnerOptions extends QueryDeps {
  searches: Searches;
  keyValue: KeyValueStore;
  logger: Logger;
  maxMs: number;
}

/** The query slots of each project. Across all processes, a project can run one query per slot at the same time. */
const slots = [1, 2, 3];
const slotPatienceMs = 5000;
const slotPauseMs = 100;
const retryAfterSeconds = 2;
const maxBytes = 256 * 1024 * 1024;
/** Maximum number of rows in the CSV file for an SQL query without LIMIT. */
const rowsOfFile = 50_000;
/**
 * Time in milliseconds that a query may take beyond its execution time limit. The query needs this time to wait for a
 * slot and a connection, and to process the result.
 */
const aroundMs = 20_000;

export function createQueryRunner({ searches, maxMs, keyValue, logger, ...deps }: QueryRunnerOptions) {
  const cache = createResultCache(keyValue);
  const longestMs = maxMs + aroundMs;
  const runs = createBackgroundRuns({ keyValue, longestMs, logger });
  const share = createSharedRuns<CachedResult>();

  const compute = (queryCaller: QueryCaller, computed: Computed): Promise<CachedResult> =>
    share(computed.key, computed.signal, (signal) => computeAlone(queryCaller, { ...computed, signal }));

  /** Runs a query within its limits: a project slot, a share of the connections, and limits on time and memory. */
  async function computeAlone(
    queryCaller: QueryCaller,
    { query, settings, key, now, rows, signal }: Computed,
  ): Promise<CachedResult> {
    const projectId = queryCaller.target.environmentId;
    const leave = await takeSlot(keyValue, { projectId, signal, longestMs });
    try {
      const request = { projectId, query, settings, now: now.getTime(), ...(rows !== undefined && { rows }) };
      const run = () => runQuery(deps, request, { signal, maxMs, maxBytes }).catch(explain);
      const result = await searches.run(queryCaller, narrowingAdvice, run, signal);
      const cached = { result, at: now.getTime() };
      await cache.write(key, cached);
      return cached;
    } finally {
      await leave();
    }
  }

  /**
   * Translate the error before `searches` handles it, because `searches` would report an exceeded limit as a temporary
   * failure.
   */
  function explain(error: unknown): never {
    throw error instanceof OverBudget ? createBudgetError(error, maxMs) : error;
  }

  return {
    /**
     * Depending on `refresh`, returns a query's cached result, computes the result, or starts to compute it in the
     * background.
     * @throws AppError `invalid` naming the invalid query field or the limit that was reached, `forbidden` if the
     *   caller cannot use a cohort in the query, `rate_limited`, or `unavailable`
     */
    async run(queryCaller: QueryCaller, request: QueryRunRequest): Promise<QueryOutcome> {
      const { query: sent, filters, variables, isFile = false, refresh, signal, run, now = new Date() } = request;
      const { projectId, userId } = toRunOwner(queryCaller.target);
      const query = overrideVariables(overrideFilters(sent, filters), variables);
      // Read the settings only once. The access check, the cache key and the plan must use the same settings.
      const settings = await readProjectSettings(deps.sql, projectId);
      await requireReferencedRecords(deps.sql, { ...queryCaller.target, settings }, query);
      const rows = isFile && findSource(query)?.kind === 'HogQLQuery' ? rowsOfFile : undefined;
      const propertyTypes = await readPropertyTypesInQuery(deps.sql, settings, query);
      const key = createCacheKey(settings, { query, rows, propertyTypes });
      const cached = refresh === 'force_blocking' || refresh === 'force_async' ? null : await cache.read(key);
      const toResponse = (one: CachedResult, isCached: boolean) => toQueryResponse(one, { query, key, isCached });
      const cachedResponse = cached && toResponse(cached, true);
      switch (chooseWork(refresh, findAge(cached, query, now))) {
        case 'none':
          return { result: cachedResponse, status: null };
        case 'now':
          return {
            result: toResponse(await compute(queryCaller, { query, settings, key, now, rows, signal }), false),
            status: null,
          };
        case 'background': {
          const status = await runs.start({ ...run, projectId, userId }, async (until) =>
            toResponse(await compute(queryCaller, { query, settings, key, now, rows, signal: until }), false),
          );
          return { result: cachedResponse, status };
        }
      }
    },
    /** Returns the status of the caller's background query with this ID, or null if the query does not exist. */
    status: (target: AddressedProject, id: string) => runs.find(toRunOwner(target), id),
    /** Cancels the caller's background query, also in the database. Does nothing if the query does not exist. */
    cancel: (target: AddressedProject, id: string) => runs.cancel(toRunOwner(target), id),
    stop: () => runs.stop(),
  };
}

const toRunOwner = ({ environmentId, rights }: AddressedProject): RunOwner => ({
  projectId: environmentId,
  userId: rights.userId,
});

interface Computed {
  query: unknown;
  settings: ProjectSettings;
  key: string;
  now: Date;
  rows: number | undefined;
  signal: AbortSignal;
}

type Age = 'none' | 'fresh' | 'stale' | 'old';

function findAge(cached: CachedResult | null, query: unknown, now: Date): Age {
  if (cached === null) return 'none';
  const { fresh, lazy } = findMaxAges(query, cached);
  const age = now.getTime() - cached.at;
  return age <= fresh ? 'fresh' : age <= lazy ? 'stale' : 'old';
}

function chooseWork(refresh: RefreshMode, age: Age): 'none' | 'now' | 'background' {
  switch (refresh) {
    case 'force_cache':
      return 'none';
    case 'force_blocking':
      return 'now';
    case 'force_async':
      return 'background';
    case 'blocking':
      return age === 'fresh' ? 'none' : 'now';
    case 'async':
      return age === 'fresh' ? 'none' : 'background';
    case 'lazy_async':
      return age === 'fresh' || age === 'stale' ? 'none' : 'background';
    case 'async_except_on_cache_miss':
      return age === 'fresh' ? 'none' : age === 'none' ? 'now' : 'background';
    default:
      return refresh satisfies never;
  }
}

function toQueryResponse(
  cached: CachedResult,
  { query, key, isCached }: { query: unknown; key: string; isCached: boolean },
): QueryResponse {
  const after = (ms: number) => formatDateTime(new Date(cached.at + ms));
  return {
    ...cached.result,
    is_cached: isCached,
    last_refresh: after(0),
    next_allowed_client_refresh: after(recommendedRefreshDelayMs(query, cached)),
    cache_target_age: after(findMaxAges(query, cached).fresh),
    cache_key: key,
  };
}

/**
 * Waits for a slot of the project. Each slot is a key in the key-value store. The key expires, so a crashed process
 * does not occupy its slot forever. If the store is unavailable, the number of connections limits the queries of each
 * process.
 * @param longestMs the expiration time of the key, which is longer than any query takes
 * @returns a function that releases the slot
 * @throws AppError `rate_limited` if no slot becomes free in time, or the abort reason if the signal aborts
 */
async function takeSlot(
  keyValue: KeyValueStore,
  { projectId, signal, longestMs }: { projectId: number; signal: AbortSignal; longestMs: number },
): Promise<() => Promise<void>> {
  const giveUpAt = performance.now() + slotPatienceMs;
  for (;;) {
    for (const slot of slots) {
      signal.throwIfAborted();
      const key = `query slot:${projectId}:${slot}`;
      const taken = await keyValue.setIfAbsent(key, 'taken', longestMs / 1000).catch(defaultIfUnavailable(null));
      if (taken === null) return async () => {};
      if (taken) return async () => keyValue.delete(key).catch(defaultIfUnavailable(undefined));
    }
    if (performance.now() > giveUpAt) throw tooManyQueries();
    await sleep(slotPauseMs, signal);
  }
}

function tooManyQueries(): AppError {
  const detail = `The project already has ${slots.length} queries running, which is the maximum. Wait until one of them finishes.`;
  return new AppError('rate_limited', detail, { code: 'too_many_queries', retryAfterSeconds });
}
