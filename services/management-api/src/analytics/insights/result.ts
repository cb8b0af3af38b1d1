// What an insight answers: asked, or as it is kept.

import { isObject } from '@millrace/contracts';
import { withFilters } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import type { QueryStatus } from '../query/background-runs.ts';
import { type Asker, type Questions, type RefreshMode, refreshModes } from '../query/questions.ts';
import type { InsightRow } from './store.ts';

/** Fields of an insight that come from its answer; null where there is none. */
export interface InsightResult {
  timezone: string | null;
  result: unknown;
  hasMore: boolean | null;
  columns: unknown;
  types: unknown;
  hogql: null;
  query_status: QueryStatus | FailedStatus | null;
  resolved_date_range: unknown;
  is_cached: boolean;
  last_refresh: string | null;
  cache_target_age: string | null;
  next_allowed_client_refresh: string | null;
  filters_hash: string | null;
}

/** What is known of an insight that was not computed yet. */
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

/** One of several insights that failed says so in its place. */
interface FailedStatus {
  complete: true;
  error: true;
  error_message: string;
}

interface InsightQuestion {
  refresh: RefreshMode;
  dashboardId?: number;
  signal: AbortSignal;
}

/** Whether results are computed for a request that shows insights. */
export const refreshQuery = Type.Optional(
  Type.String({
    description:
      `When to compute results: \`${refreshModes.join('`, `')}\`. \`true\` is the same as \`force_blocking\`. By default, and for any ` +
      'other value, returns the cached result.',
  }),
);

/** What a request says of it; anything that is no mode shows what is kept. */
export function readRefresh(given: string | undefined): RefreshMode {
  if (given?.toLowerCase() === 'true') return 'force_blocking';
  return refreshModes.find((mode) => mode === given) ?? 'force_cache';
}

/** Filters of a dashboard as a parameter. @throws AppError `invalid` naming the parameter. */
export function readFilters(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    const filters: unknown = JSON.parse(text);
    if (isObject(filters)) return filters;
  } catch {
    // Told below.
  }
  throw new AppError('invalid', '`filters_override` must be a JSON object.', {
    code: 'invalid_input',
    attr: 'filters_override',
  });
}

/** The insight as its query stands under these filters. */
export function underFilters(row: InsightRow, filters: unknown): InsightRow {
  return { ...row, query: withFilters(row.query, filters) as InsightRow['query'] };
}

/** @param row under its filters already @throws AppError as `Questions.ask`. */
export async function askInsight(
  questions: Questions,
  asker: Asker,
  row: InsightRow,
  { refresh, dashboardId, signal }: InsightQuestion,
): Promise<InsightResult | undefined> {
  if (row.query === null) return undefined;
  const run = { insightId: row.id, ...(dashboardId !== undefined && { dashboardId }) };
  const { answer, status } = await questions.ask(asker, { query: row.query, refresh, signal, run });
  if (answer === null) return { ...noResult, query_status: status };
  return {
    timezone: answer.timezone,
    result: answer.results,
    hasMore: answer.hasMore ?? null,
    columns: answer.columns ?? null,
    types: answer.types ?? null,
    hogql: null,
    query_status: status,
    resolved_date_range: answer.resolved_date_range ?? null,
    is_cached: answer.is_cached,
    last_refresh: answer.last_refresh,
    cache_target_age: answer.cache_target_age,
    next_allowed_client_refresh: answer.next_allowed_client_refresh,
    filters_hash: answer.cache_key,
  };
}

/** As `askInsight`; what cannot be answered says why, and keeps nobody else from their answer. */
export async function askOneOfMany(
  ...asked: Parameters<typeof askInsight>
): Promise<Partial<InsightResult> | undefined> {
  try {
    return await askInsight(...asked);
  } catch (error) {
    const kinds = ['invalid', 'forbidden', 'rate_limited', 'unavailable'] as const;
    if (!(error instanceof AppError) || !kinds.some((kind) => kind === error.kind)) throw error;
    return { query_status: { complete: true, error: true, error_message: error.message } };
  }
}
