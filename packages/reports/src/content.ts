// Computes a report's content: the numbers of an insight or dashboard at the time when the report was due.

import { computeChange } from '@millrace/contracts/numbers';
import { type ResultTable, toResultTable } from '@millrace/contracts/result-table';
import type { Sql } from '@millrace/db';
import {
  buildTileQuery,
  changeSource,
  findSource,
  isRecord,
  type QueryResult,
  readVisualization,
  sortByLayout,
} from '@millrace/insights';
import { isAppError } from '@millrace/runtime';
import { createTimeZone } from '@millrace/schedule';
import { buildChart, type Chart, removeFuturePoints } from './chart.ts';
import { buildFigures, buildFunnelFigure, type Figure } from './figures.ts';
import { buildSingleNumberFigures, buildSqlChart } from './sql-chart.ts';
import { findReportSubject, type ReportSubject, type SubjectInsight } from './store.ts';

/** A report's content as it is stored. Emails, messages and pictures are created from it. */
export interface ReportContent {
  kind: 'insight' | 'dashboard';
  id: number;
  name: string;
  description: string;
  /** When the report was due, in ISO 8601. The numbers describe the state at this time. */
  due_at: string;
  timezone: string;
  /** The insights' results in dashboard order, at most `maxInsights`. */
  insights: ReportedInsight[];
  /** Number of insights on the dashboard, or of those that were selected. */
  total: number;
}

export interface ReportedInsight {
  id: number;
  short_id: string;
  name: string;
  description: string;
  /** The kind of the insight's query, such as `TrendsQuery` or `FunnelsQuery`. Empty if the insight has no query. */
  query_kind: string;
  /** Start of the date range in ISO 8601, in the project time zone. Null if the result has no date range. */
  date_from: string | null;
  date_to: string | null;
  /** Key figures, one for each series, but at most `maxFigures`. */
  figures: Figure[];
  /** At most `maxRows` rows. */
  table: ResultTable;
  left_out: { rows: number; figures: number };
  chart: Chart | null;
  /** The error message if the numbers could not be computed, or null. */
  error: string | null;
}

/**
 * Converts an insight to the webhook format: adds the change of each figure, in percent or points, and removes the
 * chart.
 */
export function toWebhookReport({ chart: _, figures, ...insight }: ReportedInsight) {
  return {
    ...insight,
    figures: figures.map(({ format, ...figure }) => ({
      ...figure,
      unit: format.kind === 'percent' || format.kind === 'share' ? ('percent' as const) : ('number' as const),
      change: computeChange(figure.value, figure.before, format),
    })),
  };
}

export interface ReportDeps {
  sql: Sql;
  /**
   * Runs a query as if the current time were `now` (milliseconds since the epoch). If the query fails, the report shows
   * the error instead of the numbers.
   * @throws AppError `invalid`, `rate_limited` or `unavailable`
   */
  runQuery(query: unknown, now: number): Promise<QueryResult>;
}

export interface ReportRequest {
  projectId: number;
  /** The insight ID. If set, `dashboard` is ignored. */
  insight: number | null;
  dashboard: number | null;
  /** IDs of the dashboard's insights to include, or an empty list for all insights. */
  chosen: readonly number[];
  dueAt: Date;
}

export const maxInsights = 6;
const maxFigures = 10;
const maxRows = 60;
const maxColumns = 12;
const longestCell = 200;

/**
 * Runs a report's queries. If one query fails, the report contains that insight's error, and the numbers of all other
 * insights.
 * @returns null if the insight or dashboard does not exist or is deleted
 */
export async function createReport(deps: ReportDeps, about: ReportRequest): Promise<ReportContent | null> {
  const subject = await findReportSubject(deps.sql, about);
  if (subject === null) return null;
  const insights = insightsOf(subject, about.chosen);
  const reported = [];
  // Run the queries one after the other, because reports are not urgent and should occupy only one connection.
  for (const insight of insights.slice(0, maxInsights))
    reported.push(await reportOn(deps, insight, { now: about.dueAt.getTime(), timezone: subject.timezone }));
  return {
    kind: subject.kind,
    id: subject.id,
    name: subject.name,
    description: subject.description,
    due_at: about.dueAt.toISOString(),
    timezone: subject.timezone,
    insights: reported,
    total: insights.length,
  };
}

function insightsOf(subject: ReportSubject, chosen: readonly number[]): SubjectInsight[] {
  if (subject.kind === 'insight') return subject.tiles.map(({ insight }) => insight);
  const tiles = subject.tiles.filter(({ insight }) => chosen.length === 0 || chosen.includes(insight.id));
  return sortByLayout(tiles).map(({ insight, filters_overrides: own }) => ({
    ...insight,
    query: buildTileQuery(insight.query, { own, ofDashboard: subject.filters, variables: subject.variables }),
  }));
}

interface Moment {
  now: number;
  timezone: string;
}

async function reportOn(deps: ReportDeps, insight: SubjectInsight, moment: Moment): Promise<ReportedInsight> {
  const { query, ...named } = insight;
  const about = { ...named, query_kind: String(findSource(query)?.kind ?? '') };
  if (query === null) return { ...about, ...nothing, error: 'This insight has no query.' };
  try {
    return { ...about, ...nothing, ...(await runInsight(deps, query, moment)) };
  } catch (error) {
    const isPublic = (['invalid', 'rate_limited', 'unavailable'] as const).some((kind) => isAppError(error, kind));
    if (!isPublic) throw error;
    return { ...about, ...nothing, error: (error as Error).message };
  }
}

const nothing = {
  date_from: null,
  date_to: null,
  figures: [],
  table: { columns: [], rows: [] },
  left_out: { rows: 0, figures: 0 },
  chart: null,
  error: null,
};

async function runInsight(
  deps: ReportDeps,
  query: unknown,
  { now, timezone }: Moment,
): Promise<Partial<ReportedInsight>> {
  const result = await deps.runQuery(withTimeBefore(query), now);
  const { columns, resolved_date_range: range } = result;
  const source = findSource(query);
  const wallTime = createTimeZone(timezone).toWallTime(now);
  const results = removeFuturePoints(result.results, source, wallTime);
  const sql = source?.kind === 'HogQLQuery' ? readVisualization(query) : null;
  const figuresNow = sql === null ? buildFigures(results, source) : buildSingleNumberFigures(result, sql);
  const figures = source?.kind === 'FunnelsQuery' ? await conversion(deps, { query, result, now }) : figuresNow;
  const table = toResultTable(results, columns);
  return {
    date_from: range?.date_from ?? null,
    date_to: range?.date_to ?? null,
    figures: figures.slice(0, maxFigures),
    table: {
      columns: table.columns.slice(0, maxColumns),
      rows: table.rows
        .slice(0, maxRows)
        .map((row) =>
          row.slice(0, maxColumns).map((cell) => (typeof cell === 'string' ? cell.slice(0, longestCell) : cell)),
        ),
    },
    left_out: {
      rows: Math.max(0, table.rows.length - maxRows),
      figures: Math.max(0, figures.length - maxFigures),
    },
    chart: sql === null ? buildChart(results, source, wallTime) : buildSqlChart(result, sql),
  };
}

/**
 * Makes a trend query compare with the previous period, unless its date range has none. Current numbers do not change.
 */
function withTimeBefore(query: unknown): unknown {
  return changeSource(query, (source) => {
    const { dateRange, compareFilter: compare } = source;
    const isAll = isRecord(dateRange) && dateRange.date_from === 'all';
    if (source.kind !== 'TrendsQuery' || isAll || (isRecord(compare) && compare.compare === true)) return source;
    return { ...source, compareFilter: { compare: true } };
  });
}

/** Computes a funnel's conversion rate, and with a second query that of the previous period of the same length. */
async function conversion(
  deps: ReportDeps,
  { query, result, now }: { query: unknown; result: QueryResult; now: number },
): Promise<Figure[]> {
  const { results, resolved_date_range: range } = result;
  const figure = buildFunnelFigure(results);
  if (figure === null || range === undefined) return [];
  const [from, to] = [Date.parse(range.date_from), Date.parse(range.date_to)];
  const dateRange = {
    date_from: new Date(from - (to - from) - 1).toISOString(),
    date_to: new Date(from - 1).toISOString(),
    explicitDate: true,
  };
  const before = await deps.runQuery(
    changeSource(query, (source) => ({ ...source, dateRange })),
    now,
  );
  return [{ ...figure, before: buildFunnelFigure(before.results)?.value ?? null }];
}
