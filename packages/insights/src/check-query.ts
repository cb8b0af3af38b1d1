// Validates stored queries without reading events.

import type { Sql } from '@millrace/db';
import { isAppError } from '@millrace/runtime';
import { overrideFilters } from './override.ts';
import { parseQuery, readStoredQuery } from './parse-query.ts';
import { readFilters } from './plan/conditions.ts';
import { createPlanContext, type PlanContext, readModifiers } from './plan/context.ts';
import { planQuery } from './plan/query.ts';
import { createQueryError, isRecord } from './query-parts.ts';
import { readProjectSettings } from './records-store.ts';
import { withExpressions } from './sql/expressions.ts';
import type { SqlParser } from './sql/parse.ts';
import { sqlRequest } from './sql/request.ts';
import { requireSql } from './sql/run.ts';
import type { SqlQuery } from './sql-query.ts';

interface Deps {
  sql: Sql;
  parser: SqlParser;
}

interface Stored {
  projectId: number;
  now: number;
}

/**
 * Validates a query before it is stored, by planning it without running it. Ignores unknown fields, because a client
 * newer than Millrace may have written them. Ignores the project's test account filters, because an error in these
 * filters is not an error in the query.
 * @throws AppError `invalid` that names the invalid field, or the position of an error in the SQL
 */
export async function checkQuery(
  { sql, parser }: Deps,
  { projectId, now, query: sent }: Stored & { query: unknown },
): Promise<void> {
  if (isRecord(sent) && sent.kind === 'HogQLQuery') {
    // Unknown fields of SQL queries are rejected, because they could change the result.
    const settings = await readProjectSettings(sql, projectId);
    return requireSql({ sql, parser }, sqlRequest(parseQuery(sent) as SqlQuery, { projectId, settings, now }));
  }
  await checkInsight({ sql, parser }, { projectId, now, query: sent });
}

async function checkInsight(
  { sql, parser }: Deps,
  { projectId, now, query: sent }: Stored & { query: unknown },
): Promise<void> {
  const query = readStoredQuery(sent);
  const settings = { ...(await readProjectSettings(sql, projectId)), testAccountFilters: [] };
  const usual = createPlanContext(readModifiers(query), { settings, now, earliest: null, booleans: new Set() });
  const plan = (context: PlanContext) => planQuery(query, context);
  const planned = { ...usual, allowsUnknown: true };
  plan(await withExpressions({ sql, parser, namesPlaces: true }, planned, plan));
}

/**
 * Validates event filters before they are stored for use in queries.
 * @param path the field that contains the filters, for error messages
 * @throws AppError `invalid` that names the invalid filter, or the position of an error in its SQL
 */
export async function checkEventFilters(
  { sql, parser }: Deps,
  { projectId, now, filters, path }: Stored & { filters: unknown; path: string },
): Promise<void> {
  const settings = await readProjectSettings(sql, projectId);
  const usual = createPlanContext({}, { settings, now, earliest: null, booleans: new Set() });
  const read = (context: PlanContext) => readFilters(filters, path, context);
  read(await withExpressions({ sql, parser, namesPlaces: true }, usual, read));
}

/**
 * Validates the filters of a dashboard or tile, which apply to each of its queries.
 * @throws AppError `invalid` that names the invalid filter
 */
export async function checkFilters(deps: Deps, { filters, ...stored }: Stored & { filters: unknown }): Promise<void> {
  const query = overrideFilters({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode' }] }, filters);
  try {
    await checkInsight(deps, { ...stored, query });
  } catch (error) {
    if (!isAppError(error, 'invalid')) throw error;
    // The error names query fields. Replace these names with the corresponding fields of the dashboard filters.
    const detail = error.message.replace(/^dateRange\./, '').replace(/^breakdownFilter/, 'breakdown_filter');
    throw createQueryError('', detail);
  }
}
