// Whether a query that is stored can ever run. Nothing is read of events.

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
 * Checks a query that is stored and not run, by planning it. Fields that are not known are left alone: a client newer than Millrace may
 * have written them. The project's filters of test accounts are left out, because the query is not to blame for them.
 *
 * @throws AppError `invalid` that names a known field with an impossible value.
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
 * Checks filters of a dashboard or of one of its tiles, which narrow every query there.
 * @throws AppError `invalid` naming the part of the filters.
 */
export async function checkFilters(sql: Sql, { filters, ...stored }: Stored & { filters: unknown }): Promise<void> {
  const query = withFilters({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode' }] }, filters);
  try {
    await checkQuery(sql, { ...stored, query });
  } catch (error) {
    if (!isAppError(error, 'invalid')) throw error;
    // The names that filters have for these parts.
    const detail = error.message.replace(/^dateRange\./, '').replace(/^breakdownFilter/, 'breakdown_filter');
    throw queryError('', detail);
  }
}

/** A plan is a pure function of the query and the context. */
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
      return query;
    default:
      return query satisfies never;
  }
}
