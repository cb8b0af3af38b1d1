// The queries of the insight benchmark and their targets.

import { umamiPageviews, umamiVisitors } from './umami.ts';

export interface BenchQuery {
  name: string;
  query: object;
  /** An SQL query that a user would write to get the same result as `query`. */
  sql?: string;
  /** A simple SQL query on the `event` table that has the same result. $1 is the project ID. */
  simpleSql?: string;
  /** Umami's query that has the same result as `query`. */
  umami?: string;
  /** Target in milliseconds with ten million events in 90 days and warm caches. */
  targetMs: number;
}

export const event = (name: string, more: object = {}) => ({ kind: 'EventsNode', event: name, ...more });
const month = { dateRange: { date_from: '-30d' } };
export const week = { dateRange: { date_from: '-7d' } };
export const createTrendQuery = (...series: object[]) => ({ kind: 'TrendsQuery', ...month, series });
export const daily = createTrendQuery(event('$pageview'));
const rare = createTrendQuery(event('rare'));
export const uniques = createTrendQuery(event('$pageview', { math: 'dau' }));
export const breakdownBy = (breakdown: string, type = 'event') => ({
  breakdownFilter: { breakdown, breakdown_type: type },
});
const byBrowser = { ...uniques, ...breakdownBy('$browser') };
export const createFunnelQuery = (...names: string[]) => ({
  kind: 'FunnelsQuery',
  ...month,
  series: names.map((name) => event(name)),
  funnelsFilter: { funnelWindowInterval: 14, funnelWindowIntervalUnit: 'day' },
});
const retention = {
  kind: 'RetentionQuery',
  dateRange: { date_from: '-8w' },
  retentionFilter: {
    period: 'Week',
    totalIntervals: 8,
    targetEntity: { id: '$pageview', type: 'events' },
    returningEntity: { id: '$pageview', type: 'events' },
  },
};

const weekAgo = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);

const inMonth = 'timestamp >= toStartOfDay(now() - INTERVAL 30 DAY)';

const recently = (days: number, name: string) =>
  `e.project_id = $1 AND e.event = '${name}' AND e.timestamp >= now() - interval '${days} days'`;
const personId = `coalesce(d.person_uuid, e.person_id)`;
const ids = 'LEFT JOIN person_distinct_id d ON d.project_id = e.project_id AND d.distinct_id = e.distinct_id';

export const queries: readonly BenchQuery[] = [
  {
    name: 'trend, one event, 30 days',
    query: daily,
    sql: `SELECT toStartOfDay(timestamp) AS day, count() FROM events WHERE event = '$pageview' AND ${inMonth} GROUP BY day ORDER BY day`,
    simpleSql: `SELECT date_trunc('day', e.timestamp), count(*) FROM event e WHERE ${recently(30, '$pageview')} GROUP BY 1 ORDER BY 1`,
    umami: umamiPageviews,
    targetMs: 1000,
  },
  {
    name: 'trend of a rare event',
    query: rare,
    sql: `SELECT toStartOfDay(timestamp) AS day, count() FROM events WHERE event = 'rare' AND ${inMonth} GROUP BY day ORDER BY day`,
    simpleSql: `SELECT date_trunc('day', e.timestamp), count(*) FROM event e WHERE ${recently(30, 'rare')} GROUP BY 1 ORDER BY 1`,
    targetMs: 50,
  },
  {
    name: 'daily uniques, 30 days',
    query: uniques,
    sql: `SELECT toStartOfDay(timestamp) AS day, count(DISTINCT person_id) FROM events WHERE event = '$pageview' AND ${inMonth} GROUP BY day ORDER BY day`,
    simpleSql: `SELECT date_trunc('day', e.timestamp), count(DISTINCT ${personId}) FROM event e ${ids} WHERE ${recently(30, '$pageview')} GROUP BY 1 ORDER BY 1`,
    umami: umamiVisitors,
    targetMs: 2000,
  },
  {
    name: 'daily uniques by browser',
    query: byBrowser,
    sql: `SELECT toStartOfDay(timestamp) AS day, properties.$browser AS browser, count(DISTINCT person_id) FROM events WHERE event = '$pageview' AND ${inMonth} GROUP BY day, browser ORDER BY day, browser LIMIT 1000`,
    simpleSql: `SELECT date_trunc('day', e.timestamp), e.properties ->> '$browser', count(DISTINCT ${personId}) FROM event e ${ids} WHERE ${recently(30, '$pageview')} GROUP BY 1, 2 ORDER BY 1, 2`,
    targetMs: 5000,
  },
  {
    name: 'web overview, 7 days',
    query: { kind: 'WebOverviewQuery', ...week },
    targetMs: 2000,
  },
  {
    name: 'web figures over time, 7 days',
    query: {
      kind: 'WebTrendsQuery',
      ...week,
      metrics: ['UniqueUsers', 'PageViews', 'Sessions', 'SessionDuration', 'Bounces'],
    },
    targetMs: 2000,
  },
  {
    name: 'entry pages with bounce rate, 7 days',
    query: { kind: 'WebStatsTableQuery', ...week, breakdownBy: 'InitialPage', includeBounceRate: true, limit: 10 },
    targetMs: 2000,
  },
  {
    name: 'funnel of rare steps',
    query: createFunnelQuery('added', 'ordered', 'rare'),
    targetMs: 700,
  },
  {
    name: 'funnel from $pageview',
    query: createFunnelQuery('$pageview', 'added', 'ordered'),
    targetMs: 4000,
  },
  { name: 'retention, 8 weeks', query: retention, targetMs: 6000 },
  {
    name: 'lifecycle, 30 days',
    query: { kind: 'LifecycleQuery', ...month, series: [event('$pageview')] },
    targetMs: 7000,
  },
  {
    name: 'newest page',
    query: { kind: 'EventsQuery', select: ['*'], limit: 100 },
    sql: `SELECT *, person_id FROM events WHERE timestamp >= now() - INTERVAL 1 DAY ORDER BY timestamp DESC, uuid LIMIT 100`,
    targetMs: 50,
  },
  {
    name: 'page of an event with two filters',
    sql: `SELECT *, person_id FROM events WHERE event = 'ordered' AND ${inMonth} AND properties.$browser = 'Safari' AND toFloat(properties.price) > 150 ORDER BY timestamp DESC, uuid LIMIT 100`,
    query: {
      kind: 'EventsQuery',
      select: ['*'],
      event: 'ordered',
      after: '-30d',
      limit: 100,
      properties: [
        { key: '$browser', type: 'event', operator: 'exact', value: 'Safari' },
        { key: 'price', type: 'event', operator: 'gt', value: 150 },
      ],
    },
    targetMs: 300,
  },
  {
    name: 'persons behind a point',
    query: {
      kind: 'ActorsQuery',
      source: { kind: 'InsightActorsQuery', source: uniques, day: weekAgo, series: 0 },
      limit: 100,
    },
    targetMs: 200,
  },
];

export const sqlQueries: readonly object[] = queries.flatMap(({ sql }) =>
  sql === undefined ? [] : [{ kind: 'HogQLQuery', query: sql }],
);

/** Half of the sum of the targets of a dashboard's tiles, because two tiles load at the same time. */
export const dashboardTargetMs = 8875;

export const dashboardTiles: readonly object[] = [
  daily,
  rare,
  createTrendQuery(event('clicked')),
  uniques,
  createTrendQuery(event('clicked', { math: 'dau' })),
  byBrowser,
  createFunnelQuery('added', 'ordered', 'rare'),
  retention,
];
