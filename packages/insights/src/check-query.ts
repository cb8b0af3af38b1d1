// Validates stored queries without reading events.

import type { Sql } from '@millrace/db';
import { isAppError } from '@millrace/runtime';
import { withFilters } from './override.ts';
import { parseQuery, readStoredQuery } from './parse-query.ts';
import { planActors } from './plan/actors.ts';
import { modifiersOf, type PlanContext, planContext } from './plan/context.ts';
import { planEvents } from './plan/events.ts';
import { planFunnel } from './plan/funnel.ts';
import { planLifecycle } from './plan/lifecycle.ts';
import { planRetention } from './plan/retention.ts';
import { planTrends } from './plan/trends.ts';
import { planWeb } from './plan/web.ts';
import type { Query } from './query.ts';
import { isRecord, queryError } from './query-parts.ts';
import { readSettings } from './records-store.ts';
import type { SqlParser } from './sql/parse.ts';
import { sqlRequest } from './sql/request.ts';
import { requireSql } from './sql/run.ts';
import type { SqlQuery } from './sql-query.ts';

interface Stored {
  projectId: number;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * Validates a query that will be stored and not run, by planning it. Ignores unknown fields, because a client newer
 * than Millrace may have written them. Ignores the project's filters of test accounts, because the query does not cause
 * their errors.
 *
 * @throws AppError `invalid` naming a known field with an invalid value.
 */
export async function checkQuery(
  { sql, parser }: { sql: Sql; parser: SqlParser },
  { projectId, now, query: sent }: Stored & { query: unknown },
): Promise<void> {
  if (isRecord(sent) && sent.kind === 'HogQLQuery') {
    // Unknown fields can change what SQL returns, so they are rejected as when the query runs.
    const settings = await readSettings(sql, projectId);
    return requireSql({ sql, parser }, sqlRequest(parseQuery(sent) as SqlQuery, { projectId, settings, now }));
  }
  await checkInsight(sql, { projectId, now, query: sent });
}

async function checkInsight(sql: Sql, { projectId, now, query: sent }: Stored & { query: unknown }): Promise<void> {
  const query = readStoredQuery(sent);
  const settings = { ...(await readSettings(sql, projectId)), testAccountFilters: [] };
  const context = planContext(modifiersOf(query), { settings, now, earliest: null, booleans: new Set() });
  plan(query, { ...context, allowsUnknown: true });
}

/**
 * Validates filters of a dashboard or tile, which are applied to every query there.
 * @throws AppError `invalid` naming the part of the filters.
 */
export async function checkFilters(sql: Sql, { filters, ...stored }: Stored & { filters: unknown }): Promise<void> {
  const query = withFilters({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode' }] }, filters);
  try {
    await checkInsight(sql, { ...stored, query });
  } catch (error) {
    if (!isAppError(error, 'invalid')) throw error;
    // Rename the query fields to those of the filters.
    const detail = error.message.replace(/^dateRange\./, '').replace(/^breakdownFilter/, 'breakdown_filter');
    throw queryError('', detail);
  }
}

/** Plans a query. Planning is a pure function of the query and the context. */
function plan(query: Query, context: PlanContext): unknown {
  switch (query.kind) {
    case 'TrendsQuery':
      return planTrends(query, context);
    case 'FunnelsQuery':
      return planFunnel(query, context);
    case 'RetentionQuery':
      return planRetention(query, context);
    case 'LifecycleQuery':
      return planLifecycle(query, context);
    case 'ActorsQuery':
      return planActors(query, context);
    case 'EventsQuery':
      return planEvents(query, context);
    case 'WebOverviewQuery':
    case 'WebStatsTableQuery':
    case 'WebTrendsQuery':
      return planWeb(query, context);
    // `checkQuery` handles SQL.
    case 'HogQLQuery':
    case 'HogQLMetadata':
    case 'DatabaseSchemaQuery':
      return query;
    default:
      return query satisfies never;
  }
}
