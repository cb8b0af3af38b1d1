// Caches query results. The cache key covers the query and everything else that affects the result, except the events.

import { createHash } from 'node:crypto';
import { findSource, isRecord, type ProjectSettings, type QueryResult } from '@millrace/insights';
import { isAppError } from '@millrace/runtime';
import type { KeyValueStore } from '@millrace/runtime/cache';

export interface CachedResult {
  result: QueryResult;
  /** Milliseconds since the epoch. */
  at: number;
}

/**
 * Maximum age of a cached result in milliseconds. `lazy` applies to the refresh mode `lazy_async`, and `fresh` to all
 * other modes.
 */
export interface Ages {
  fresh: number;
  lazy: number;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const agesByInterval = new Map<unknown, Ages>([
  ['minute', { fresh: 5 * minute, lazy: 15 * minute }],
  ['hour', { fresh: hour, lazy: 2 * hour }],
  ['day', { fresh: 6 * hour, lazy: 12 * hour }],
  ['week', { fresh: day, lazy: day }],
  ['month', { fresh: 2 * day, lazy: 2 * day }],
]);
const usualAges: Ages = { fresh: 6 * hour, lazy: 12 * hour };

/** Web analytics pages show recent traffic, so their results expire earlier. */
const agesOfWeb: Ages = { fresh: 5 * minute, lazy: 15 * minute };
const isOfWeb = (query: unknown) => isRecord(query) && /^Web\w+Query$/.test(String(query.kind));

/**
 * Results of checking or describing SQL are not cached. They are cheap to compute and depend on property definitions.
 */
const agesOfChecks: Ages = { fresh: -1, lazy: -1 };
const isCheck = (query: unknown) =>
  isRecord(query) && (query.kind === 'HogQLMetadata' || query.kind === 'DatabaseSchemaQuery');

/** Returns the maximum result ages for a query's kind and interval. */
function agesOf(query: unknown): Ages {
  if (isCheck(query)) return agesOfChecks;
  if (isOfWeb(query)) return agesOfWeb;
  return agesByInterval.get(intervalOf(query)) ?? usualAges;
}

function intervalOf(query: unknown): unknown {
  if (!isRecord(query)) return undefined;
  return isRecord(query.source) ? intervalOf(query.source) : query.interval;
}

/**
 * Returns the maximum ages of a cached result. If its date range had ended before it was computed, only late events can
 * change it, so it stays fresh for at least a day.
 */
export function findMaxAges(query: unknown, { result, at }: CachedResult): Ages {
  const ages = agesOf(query);
  const end = Date.parse(result.resolved_date_range?.date_to ?? '');
  if (!(end < at - 10_000)) return ages;
  return { fresh: Math.max(day, ages.fresh), lazy: Math.max(day, ages.lazy) };
}

/** Returns the milliseconds after which a client should request the result again. It may do so earlier. */
export function recommendedRefreshDelayMs(
  query: unknown,
  { result: { resolved_date_range: range } }: CachedResult,
): number {
  const interval = intervalOf(query);
  if (range === undefined || interval === 'minute') return minute;
  const days = Math.ceil((Date.parse(range.date_to) - Date.parse(range.date_from)) / day);
  return interval === 'hour' || days <= 7 ? 3 * minute : 15 * minute;
}

interface Cached {
  query: unknown;
  /** Maximum number of rows, or undefined for the default. */
  rows: number | undefined;
  propertyTypes: readonly unknown[];
}

/**
 * Returns the cache key of a query. The order of the query's fields does not affect the key. The project's settings,
 * cohorts and property types do.
 */
export function createCacheKey(
  { cohorts, variables, ...settings }: ProjectSettings,
  { query, rows, propertyTypes }: Cached,
): string {
  const text = findSource(query)?.query;
  const usesVariables = typeof text === 'string' && text.includes('variables');
  const parts = inOrder({
    settings,
    cohorts: [...cohorts],
    query,
    rows,
    propertyTypes,
    ...(usesVariables && { variables }),
  });
  return `cache_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`;
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  );
}

/** Maximum size of a cached result in characters. Larger results are not cached. */
const maxCharacters = 2 * 2 ** 20;
/** Time in seconds for which results are kept. A week, because insights and dashboards can show stale results. */
const keptForSeconds = 7 * 24 * 3600;

/** Creates the cache. While the store is unavailable, the cache behaves as if it were empty. */
export function createResultCache(keyValue: KeyValueStore) {
  const nameOf = (key: string) => `query result:${key}`;
  return {
    async read(key: string): Promise<CachedResult | null> {
      const text = await keyValue.get(nameOf(key)).catch(defaultIfUnavailable(null));
      return text === null ? null : (JSON.parse(text) as CachedResult);
    },
    async write(key: string, kept: CachedResult): Promise<void> {
      const text = JSON.stringify(kept);
      if (text.length > maxCharacters) return;
      await keyValue.set(nameOf(key), text, keptForSeconds).catch(defaultIfUnavailable(undefined));
    },
  };
}

/** Creates an error handler that returns the given default if the store is unavailable. */
export function defaultIfUnavailable<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (isAppError(error, 'unavailable')) return instead;
    throw error;
  };
}
