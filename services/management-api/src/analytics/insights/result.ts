// Loads an insight's result from the cache, or computes it.

import { isObject } from '@millrace/contracts';
import { findSource, overrideFilters, overrideVariables } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import type { QueryStatus } from '../query/background-runs.ts';
import { type QueryCaller, type QueryRunner, type RefreshMode, refreshModes } from '../query/query-runner.ts';
import type { InsightRow } from './store.ts';

/** The fields of an insight that describe its result. They are null if the insight has no result. */
export interface InsightResult {
  timezone: string | null;
  result: unknown;
  hasMore: boolean | null;
  columns: unknown;
  types: unknown;
  hogql: string | null;
  query_status: QueryStatus | FailedStatus | null;
  resolved_date_range: unknown;
  is_cached: boolean;
  last_refresh: string | null;
  cache_target_age: string | null;
  next_allowed_client_refresh: string | null;
  filters_hash: string | null;
}

export const noResult: InsightResult = {
  timezone: null,
  result: null,
  hasMore: null,
  columns: null,
  types: null,
  hogql: null,
  query_status: null,
  resolved_date_range: null,
  is_cached: false,
  last_refresh: null,
  cache_target_age: null,
  next_allowed_client_refresh: null,
  filters_hash: null,
};

/** Returned instead of a result if an insight fails but the request continues with other insights. */
interface FailedStatus {
  complete: true;
  error: true;
  error_message: string;
}

interface InsightRunOptions {
  refresh: RefreshMode;
  isFile?: boolean;
  dashboardId?: number;
  signal: AbortSignal;
}

/** The query parameter that determines whether a request for insights computes their results. */
export const refreshQuery = Type.Optional(
  Type.String({
    description:
      `When to compute results: \`${refreshModes.join('`, `')}\`. \`true\` is the same as \`force_blocking\`. By default, and for any ` +
      'other value, returns the cached result.',
  }),
);

/** Parses the parameter `refresh`. With an unknown value, the response contains only cached results. */
export function readRefresh(given: string | undefined): RefreshMode {
  if (given?.toLowerCase() === 'true') return 'force_blocking';
  return refreshModes.find((mode) => mode === given) ?? 'force_cache';
}

export const overrideQuery = {
  filters_override: Type.Optional(
    Type.String({
      description: "JSON object with filters that replace the dashboard's filters for this request.",
    }),
  ),
  variables_override: Type.Optional(
    Type.String({
      description:
        'JSON object with variables of SQL insights, by ID: `{"<id>": {"code_name": "plan", "value": "pro"}}`. They ' +
        'take precedence over the variables of the dashboard and of the insight.',
    }),
  ),
};

interface Overrides {
  filters: Record<string, unknown> | undefined;
  variables: Record<string, unknown> | undefined;
}

/**
 * Reads the filters and variables that replace the insight's own for this request.
 * @throws AppError `invalid` naming the parameter
 */
export function readOverrides(query: { filters_override?: string; variables_override?: string }): Overrides {
  const read = (attr: 'filters_override' | 'variables_override') => {
    const text = query[attr];
    if (text === undefined || text === '') return undefined;
    try {
      const value: unknown = JSON.parse(text);
      if (isObject(value)) return value;
    } catch {}
    throw new AppError('invalid', `\`${attr}\` must be a JSON object.`, { code: 'invalid_input', attr });
  };
  return { filters: read('filters_override'), variables: read('variables_override') };
}

export function applyOverrides(row: InsightRow, { filters, variables }: Partial<Overrides>): InsightRow {
  return { ...row, query: overrideVariables(overrideFilters(row.query, filters), variables) as InsightRow['query'] };
}

/**
 * Runs an insight's query.
 * @param row the insight with its overrides applied
 * @throws AppError like `QueryRunner.run`
 */
export async function runInsight(
  queryRunner: QueryRunner,
  queryCaller: QueryCaller,
  row: InsightRow,
  { refresh, isFile = false, dashboardId, signal }: InsightRunOptions,
): Promise<InsightResult | undefined> {
  if (row.query === null) return undefined;
  const run = { insightId: row.id, ...(dashboardId !== undefined && { dashboardId }) };
  // Compute an SQL insight again for a file, because the file can contain more rows than the cached result.
  const isSqlFile = isFile && findSource(row.query)?.kind === 'HogQLQuery';
  const mode = isSqlFile && refresh === 'force_cache' ? 'blocking' : refresh;
  const { result, status } = await queryRunner.run(queryCaller, {
    query: row.query,
    refresh: mode,
    isFile,
    signal,
    run,
  });
  if (result === null) return { ...noResult, query_status: status };
  return {
    timezone: result.timezone,
    result: result.results,
    hasMore: result.hasMore ?? null,
    columns: result.columns ?? null,
    types: result.types ?? null,
    hogql: result.hogql ?? null,
    query_status: status,
    resolved_date_range: result.resolved_date_range ?? null,
    is_cached: result.is_cached,
    last_refresh: result.last_refresh,
    cache_target_age: result.cache_target_age,
    next_allowed_client_refresh: result.next_allowed_client_refresh,
    filters_hash: result.cache_key,
  };
}

/** Like `runInsight`, but returns an error as a status, so that a dashboard's other insights still work. */
export async function runInsightWithStatus(
  ...options: Parameters<typeof runInsight>
): Promise<Partial<InsightResult> | undefined> {
  try {
    return await runInsight(...options);
  } catch (error) {
    const kinds = ['invalid', 'forbidden', 'rate_limited', 'unavailable'] as const;
    if (!(error instanceof AppError) || !kinds.some((kind) => kind === error.kind)) throw error;
    return { query_status: { complete: true, error: true, error_message: error.message } };
  }
}
