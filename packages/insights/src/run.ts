// Runs a query that a client sent as JSON.

import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { type Budget, type EventStore, type OverBudget, withSharedDeadline } from './event-store/port.ts';
import type { ActorRow, ActorsOrder, SeriesQuery } from './event-store/queries.ts';
import { parseQuery } from './parse-query.ts';
import { type ActorsPlan, planActors } from './plan/actors.ts';
import { createPlanContext, type PlanContext, type ProjectSettings, readModifiers } from './plan/context.ts';
import { planEvents } from './plan/events.ts';
import { planFunnel } from './plan/funnel.ts';
import { planLifecycle } from './plan/lifecycle.ts';
import { planQuery } from './plan/query.ts';
import { planRetention } from './plan/retention.ts';
import { planTrends, type TrendsPlan } from './plan/trends.ts';
import { planWeb, type WebPlan } from './plan/web.ts';
import type { Query } from './query.ts';
import { createQueryError } from './query-parts.ts';
import { readBooleanProperties, readGroups, readPersons, readProjectSettings } from './records-store.ts';
import { collectFunnelActors, formatActors } from './results/actors.ts';
import { formatEvents, listPersonIds } from './results/events.ts';
import { computeFunnelTotals, formatFunnel } from './results/funnel.ts';
import { formatLifecycle } from './results/lifecycle.ts';
import { formatRetention } from './results/retention.ts';
import { formatRange, formatTrends } from './results/trends.ts';
import { formatWeb, type WebRows } from './results/web.ts';
import { type DatabaseSchema, databaseSchema } from './sql/database-schema.ts';
import { withExpressions } from './sql/expressions.ts';
import { checkSql, checkSqlExpression, type ExpressionSource, type SqlMetadata } from './sql/metadata.ts';
import type { SqlParser } from './sql/parse.ts';
import { sqlRequest } from './sql/request.ts';
import { rethrowEngineError, runSql } from './sql/run.ts';
import type { AnySqlQuery, SqlMetadataQuery, SqlQuery } from './sql-query.ts';

export interface QueryDeps {
  /** The database that stores settings, persons and groups. */
  sql: Sql;
  events: EventStore;
  /** The SQL parser. If absent, SQL queries are rejected. */
  parser?: SqlParser;
}

export interface QueryRequest {
  projectId: number;
  query: unknown;
  /** The current time for the entire query, in milliseconds since the epoch. */
  now: number;
  /**
   * The project's settings, if the caller has already read them, for example for a cache key. By default, `runQuery`
   * reads them.
   */
  settings?: ProjectSettings;
  /** Maximum number of rows for an SQL query without LIMIT. The default is 100. */
  rows?: number;
}

/** A query's result. The query kind determines which fields are set. */
export interface QueryResult extends Partial<SqlMetadata>, Partial<DatabaseSchema> {
  results: unknown;
  hasMore?: boolean;
  columns?: string[];
  types?: string[] | [string, string][];
  limit?: number;
  offset?: number;
  missing_actors_count?: number;
  /** An SQL query's text with its placeholders replaced. */
  hogql?: string;
  /** The start of the range in a web overview's result. `dateTo` is the end. */
  dateFrom?: string;
  dateTo?: string;
  resolved_date_range?: { date_from: string; date_to: string };
  timezone: string;
}

/**
 * Runs a query: parses it, plans it with the project's settings, reads from the event store, and formats the result.
 * @throws AppError `invalid` that names the invalid field; OverBudget if the query exceeds its budget
 */
export async function runQuery(
  deps: QueryDeps,
  { projectId, query: sent, now, rows, settings: known }: QueryRequest,
  budget: Budget,
): Promise<QueryResult> {
  const query = parseQuery(sent);
  const run = withSharedDeadline(budget);
  const settings = known ?? (await readProjectSettings(deps.sql, projectId));
  if (query.kind === 'DatabaseSchemaQuery') return { results: [], ...databaseSchema(), timezone: settings.timezone };
  if (query.kind === 'HogQLQuery' || query.kind === 'HogQLMetadata')
    return runSqlQuery(deps, { query, projectId, settings, now, ...(rows !== undefined && { rows }) }, run);
  const earliest = beginsWithFirst(query)
    ? await deps.events.earliest({ projectId, events: namesIn(query) }, run)
    : null;
  const booleans = await readBooleanProperties(deps.sql, projectId, brokenDownBy(query));
  // This first plan is used only to find the SQL expressions. These are compiled before `computeResult` plans the query
  // again.
  const context = await withExpressions(
    deps,
    createPlanContext(readModifiers(query), { settings, now, earliest, booleans }),
    (planning) => planQuery(query, planning),
  );
  const computing = computeResult(deps, query, { context, run });
  const result = await (context.expression === undefined ? computing : computing.catch(rethrowEngineError));
  return { ...result, timezone: settings.timezone };
}

async function runSqlQuery(
  { parser, ...deps }: QueryDeps,
  {
    query,
    projectId,
    settings,
    now,
    rows,
  }: QueryRequest & { query: SqlQuery | SqlMetadataQuery; settings: ProjectSettings },
  run: Budget,
): Promise<QueryResult> {
  if (parser === undefined) throw createQueryError('kind', 'SQL queries cannot run here.');
  const request = sqlRequest(query, { projectId, settings, now, ...(rows !== undefined && { rows }) });
  if (query.kind === 'HogQLQuery') return runSql({ ...deps, parser }, request, run);
  const source = query.language === 'hogQL' ? null : sourceOfExpression(query, { projectId, settings, now });
  if (source === null && query.sourceQuery !== undefined)
    throw createQueryError('sourceQuery', 'Only an expression has a source. Set `language` to `hogQLExpr`.');
  const metadata =
    source === null
      ? await checkSql({ ...deps, parser }, request)
      : await checkSqlExpression({ ...deps, parser }, request, source);
  return { results: [], ...metadata, timezone: settings.timezone };
}

function sourceOfExpression(
  { sourceQuery, variables, filters }: SqlMetadataQuery,
  scope: { projectId: number; settings: ProjectSettings; now: number },
): ExpressionSource {
  if (sourceQuery === undefined) return { table: 'events' };
  if (sourceQuery.kind === 'HogQLMetadata' || sourceQuery.kind === 'DatabaseSchemaQuery')
    throw createQueryError('sourceQuery.kind', `A ${sourceQuery.kind} cannot contain expressions.`);
  const source = parseQuery(sourceQuery);
  if (source.kind === 'HogQLQuery') {
    const own = { ...(variables && { variables: { ...source.variables, ...variables } }), ...(filters && { filters }) };
    return { query: sqlRequest({ ...source, ...own }, scope) };
  }
  return { table: source.kind === 'ActorsQuery' ? 'persons' : 'events' };
}

/** Completes sentences such as "To make it faster, use …". */
export const narrowingAdvice = 'a shorter date range, filters or no breakdown';

/**
 * Creates the error for a query that exceeds its budget. It is `invalid`, because clients must not retry the query
 * unchanged.
 */
export function createBudgetError(error: OverBudget, maxMs: number): AppError {
  const isTime = error.limit === 'time';
  const seconds = Math.max(1, Math.round(maxMs / 1000));
  const problem = isTime
    ? `The query takes more than ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`
    : 'The query needs more memory than a single query can use.';
  return new AppError('invalid', `${problem} Use ${narrowingAdvice}.`, {
    code: isTime ? 'query_timeout' : 'query_too_large',
    attr: 'query',
    cause: error,
  });
}

interface Running {
  context: PlanContext;
  run: Budget;
}

type InsightQuery = Exclude<Query, AnySqlQuery>;

async function computeResult(
  deps: QueryDeps,
  query: InsightQuery,
  { context, run }: Running,
): Promise<Omit<QueryResult, 'timezone'>> {
  const { events } = deps;
  switch (query.kind) {
    case 'TrendsQuery': {
      const plan = planTrends(query, context);
      const [current] = plan.periods;
      const rows = await readTrends(events, plan, run);
      return {
        ...formatTrends(plan, rows, context),
        ...(current && { resolved_date_range: formatRange(current.period, context) }),
      };
    }
    case 'FunnelsQuery': {
      const plan = planFunnel(query, context);
      const totals = (await events.funnelTotals(plan, run)) ?? (await computeFunnelTotals(events, plan, run));
      return { results: formatFunnel(plan, totals, context), resolved_date_range: formatRange(plan.period, context) };
    }
    case 'RetentionQuery': {
      const plan = planRetention(query, context);
      const { select } = plan.storeQuery;
      return {
        ...formatRetention(plan, await events.retention(plan.storeQuery, run), context),
        resolved_date_range: formatRange(select, context),
      };
    }
    case 'LifecycleQuery': {
      const plan = planLifecycle(query, context);
      return {
        ...formatLifecycle(plan, await events.lifecycle(plan.storeQuery, run), context),
        resolved_date_range: formatRange(plan.period, context),
      };
    }
    case 'ActorsQuery':
      return readActorsPage(deps, planActors(query, context), { context, run });
    case 'EventsQuery': {
      const plan = planEvents(query, context);
      const rows = await events.page(plan.storeQuery, run);
      const persons = await readPersons(deps.sql, context.settings.projectId, listPersonIds(plan, rows));
      return formatEvents(plan, rows, { persons, context });
    }
    case 'WebOverviewQuery':
    case 'WebStatsTableQuery':
    case 'WebTrendsQuery': {
      const plan = planWeb(query, context);
      return {
        ...formatWeb(plan, await readWebRows(events, plan, run), context),
        resolved_date_range: formatRange(plan.period, context),
      };
    }
    default:
      return query satisfies never;
  }
}

/**
 * Runs a web query. For the previous period of a table, reads only the values that the current period's table contains.
 */
async function readWebRows(events: EventStore, { current, previous, limit }: WebPlan, run: Budget): Promise<WebRows> {
  const rows = await events.web(current, run);
  if (previous === null) return { current: rows, previous: null };
  const only = rows.slice(0, limit).map(({ value }) => value);
  if (current.breakdown !== null && only.length === 0) return { current: rows, previous: [] };
  const breakdown = previous.breakdown && { ...previous.breakdown, only };
  return { current: rows, previous: await events.web({ ...previous, breakdown, offset: 0 }, run) };
}

/** Reads the rows of each period and series, one query after the other, because the queries share one connection. */
async function readTrends(events: EventStore, plan: TrendsPlan, run: Budget) {
  const rows = [];
  for (const period of plan.periods) {
    const ofPeriod = [];
    for (const [at, storeQuery] of period.storeQueries.entries()) {
      const withEdges = await withBins(events, { storeQuery, bins: plan.breakdown.bins }, run);
      period.storeQueries[at] = withEdges;
      ofPeriod.push(await events.series(withEdges, run));
    }
    rows.push(ofPeriod);
  }
  return rows;
}

/** How much wider the last bin is than all others, as a fraction, so that it includes the maximum. */
const lastBinMargin = 0.01;

/** Computes numeric bins between the minimum and the maximum. */
async function withBins(
  events: EventStore,
  { storeQuery, bins }: { storeQuery: SeriesQuery; bins: readonly (number | null)[] },
  run: Budget,
): Promise<SeriesQuery> {
  if (bins.every((count) => count === null)) return storeQuery;
  const breakdowns = [];
  for (const [at, breakdown] of storeQuery.breakdowns.entries()) {
    const count = bins[at] ?? null;
    if (count === null) {
      breakdowns.push(breakdown);
      continue;
    }
    const { property } = breakdown;
    const bound = async (aggregate: 'min' | 'max') => {
      const measure = { of: 'property', property, times: 1, aggregate } as const;
      const [row] = await events.series({ ...storeQuery, measure, breakdowns: [], edges: [], windows: null }, run);
      return row?.number ?? 0;
    };
    const [low, high] = [await bound('min'), await bound('max')];
    const edges = Array.from({ length: count + 1 }, (_, bin) =>
      bin === count ? high + lastBinMargin : low + ((high - low) / count) * bin,
    );
    breakdowns.push({ ...breakdown, bins: edges });
  }
  return { ...storeQuery, breakdowns };
}

async function readActorsPage({ sql, events }: QueryDeps, plan: ActorsPlan, { context, run }: Running) {
  const { projectId } = context.settings;
  const actors = await readActors();
  const ids = actors.slice(0, plan.limit).map(({ id }) => id);
  const { actorType } = plan;
  const records = {
    persons: actorType.of === 'group' ? new Map() : await readPersons(sql, projectId, ids),
    groups:
      actorType.of === 'group' ? await readGroups(sql, projectId, { index: actorType.index, keys: ids }) : new Map(),
  };
  return formatActors(plan, actors, { records, context });

  async function readActors() {
    const { source } = plan;
    if (!source.funnel) return events.actors(source.storeQuery, run);
    const page = { point: source.point, order: source.order, limit: plan.limit + 1, offset: plan.offset };
    const actors = await events.funnelActors(source.plan, page, run);
    if (actors !== null) return actors;
    const found = collectFunnelActors(source.plan, source.point);
    await events.funnel(source.plan.storeQuery, run, found.add);
    return sortActors(found.actors, source.order).slice(page.offset, page.offset + page.limit);
  }
}

/** Sorts actors. Ties are sorted by ID, because each engine would return them in a different order. */
function sortActors(actors: ActorRow[], order: readonly ActorsOrder[]): ActorRow[] {
  return actors.sort((a, b) => {
    for (const { by, isDescending } of [...order, { by: 'id', isDescending: false }]) {
      const difference = by === 'events' ? a.events - b.events : a.id < b.id ? -1 : Number(a.id > b.id);
      if (difference !== 0) return isDescending ? -difference : difference;
    }
    return 0;
  });
}

function beginsWithFirst(query: InsightQuery): boolean {
  if (query.kind === 'EventsQuery' || query.kind === 'ActorsQuery')
    return query.source !== undefined && beginsWithFirst(query.source.source);
  return query.dateRange?.date_from === 'all';
}

/** Returns the names of the properties in the query's breakdowns. */
function brokenDownBy(query: InsightQuery): string[] {
  if ('source' in query) return query.source === undefined ? [] : brokenDownBy(query.source.source);
  if (!('breakdownFilter' in query)) return [];
  const { breakdown = [], breakdowns = [] } = query.breakdownFilter ?? {};
  return [breakdown, breakdowns.map(({ property }) => property)].flat(2);
}

/** Returns the names of the events in a query, or null if the query selects all events. */
function namesIn(query: InsightQuery): string[] | null {
  if ('source' in query) return query.source === undefined ? null : namesIn(query.source.source);
  if (!('series' in query)) return null;
  const names = query.series.map(({ event }) => event);
  return names.some((name) => name === undefined) ? null : [...new Set(names.map(String))];
}
