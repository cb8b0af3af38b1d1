import type { WebRow } from '../event-store/queries.ts';
import type { PlanContext } from '../plan/context.ts';
import type { WebPlan } from '../plan/web.ts';
import type { WebMetric, WebStatsTableQuery, WebTrendsQuery } from '../web-query.ts';
import { formatBucketLabels, formatIso } from './time-labels.ts';

/** A web query's rows, and the previous period's rows if the query compares periods. */
export interface WebRows {
  current: WebRow[];
  previous: WebRow[] | null;
}

export function formatWeb(plan: WebPlan, rows: WebRows, context: PlanContext) {
  const { query } = plan;
  switch (query.kind) {
    case 'WebOverviewQuery':
      return { results: overview(rows), ...formatDates(plan, context) };
    case 'WebStatsTableQuery':
      return table(query, plan, rows);
    case 'WebTrendsQuery':
      return { results: trend(query, { plan, rows, context }) };
    default:
      return query satisfies never;
  }
}

const nothing: Pick<WebRow, 'visitors' | 'views' | 'sessions' | 'seconds' | 'bounced' | 'rated'> = {
  visitors: 0,
  views: 0,
  sessions: 0,
  seconds: 0,
  bounced: 0,
  rated: 0,
};
type Numbers = typeof nothing;

const duration = ({ seconds, sessions }: Numbers) => (sessions === 0 ? null : seconds / sessions);
const bounceRate = ({ bounced, rated }: Numbers) => (rated === 0 ? null : bounced / rated);

function overview({ current, previous }: WebRows) {
  const [now = nothing, before] = [current[0], previous === null ? null : (previous[0] ?? nothing)];
  const item = (key: string, kind: string, read: (numbers: Numbers) => number | null) => {
    const [value, former] = [read(now), before === null ? null : read(before)];
    const change = value === null || former === null || former === 0 ? null : (100 * (value - former)) / former;
    return {
      key,
      kind,
      isIncreaseBad: key === 'bounce rate' ? true : null,
      value,
      previous: former,
      changeFromPreviousPct: change === null ? null : Math.round(change),
    };
  };
  return [
    item('visitors', 'unit', ({ visitors }) => visitors),
    item('views', 'unit', ({ views }) => views),
    item('sessions', 'unit', ({ sessions }) => sessions),
    item('session duration', 'duration_s', duration),
    item('bounce rate', 'percentage', (numbers) => {
      const rate = bounceRate(numbers);
      return rate === null ? null : 100 * rate;
    }),
  ];
}

/** Formats both ends of a period as `2024-05-13 00:00:00` in the project time zone. */
function formatDates({ period: { from, to } }: WebPlan, { clock }: PlanContext) {
  const shown = (time: number) => formatIso(time, clock).slice(0, 19).replace('T', ' ');
  return { dateFrom: shown(from), dateTo: shown(to - 1) };
}

function table({ includeBounceRate, orderBy, offset = 0 }: WebStatsTableQuery, { limit }: WebPlan, rows: WebRows) {
  const before = rows.previous === null ? null : new Map(rows.previous.map((row) => [row.value, row]));
  const by = orderBy?.[0] ?? 'Visitors';
  const results = rows.current.slice(0, limit).map((row) => {
    const former = before === null ? null : (before.get(row.value) ?? nothing);
    const pair = (read: (numbers: Numbers) => number | null) => [read(row), former === null ? null : read(former)];
    const share = by === 'BounceRate' ? bounceRate(row) : (by === 'Views' ? row.views : row.visitors) / row.total;
    return [
      row.value,
      pair(({ visitors }) => visitors),
      pair(({ views }) => views),
      ...(includeBounceRate ? [pair(bounceRate)] : []),
      share,
    ];
  });
  const names = ['breakdown_value', 'visitors', 'views', ...(includeBounceRate ? ['bounce_rate'] : [])];
  return {
    results,
    columns: [...names, 'ui_fill_fraction'].map((name) => `context.columns.${name}`),
    hasMore: rows.current.length > limit,
    limit,
    offset,
  };
}

const metrics: Record<WebMetric, (numbers: Numbers) => number | null> = {
  UniqueUsers: ({ visitors }) => visitors,
  PageViews: ({ views }) => views,
  Sessions: ({ sessions }) => sessions,
  Bounces: bounceRate,
  SessionDuration: duration,
};

/** Builds a trend with numbers for every interval. */
function trend(
  { metrics: names }: WebTrendsQuery,
  { plan, rows, context }: { plan: WebPlan; rows: WebRows; context: PlanContext },
) {
  const found = new Map(rows.current.map((row) => [row.bucket, row]));
  return formatBucketLabels(plan.period, context.clock).days.map((bucket, at) => ({
    bucket,
    metrics: Object.fromEntries(names.map((name) => [name, metrics[name](found.get(at) ?? nothing)])),
  }));
}
