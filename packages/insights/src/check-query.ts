// Validates stored queries without reading events.

import type { Sql } from '@millrace/db';
import { isAppError } from '@millrace/runtime';
import { withFilters } from './override.ts';
import { readStoredQuery } from './parse-query.ts';
import { planActors } from './plan/actors.ts';
import { modifiersOf, type PlanContext, planContext } from './plan/context.ts';
import { planEvents } from './plan/events.ts';
import { planFunnel } from './plan/funnel.ts';
import { planLifecycle } from './plan/lifecycle.ts';
import { planRetention } from './plan/retention.ts';
import { planTrends } from './plan/trends.ts';
import { planWeb } from './plan/web.ts';
import type { Query } from './query.ts';
import { queryError } from './query-parts.ts';
import { readSettings } from './records-store.ts';

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
  sql: Sql,
  { projectId, now, query: sent }: Stored & { query: unknown },
): Promise<void> {
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
    await checkQuery(sql, { ...stored, query });
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
    // A stored SQL query is checked when it runs: tables, cohorts and property types can change until then.
    case 'HogQLQuery':
    case 'HogQLMetadata':
    case 'DatabaseSchemaQuery':
      return query;
    default:
      return query satisfies never;
  }
}
