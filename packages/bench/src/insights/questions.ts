import { umamiPageviews, umamiVisitors } from './umami.ts';

export interface Question {
  name: string;
  query: object;
  /** What somebody would write who has the table before them; $1 is the project. */
  naive?: string;
  /** What Umami asks, where it means the same. */
  umami?: string;
  /** With ten million events of 90 days, warm. */
  targetMs: { PostgreSQL: number; ClickHouse: number };
}

const event = (name: string, more: object = {}) => ({ kind: 'EventsNode', event: name, ...more });
const month = { dateRange: { date_from: '-30d' } };
const trend = (...series: object[]) => ({ kind: 'TrendsQuery', ...month, series });
const daily = trend(event('$pageview'));
const rare = trend(event('rare'));
const uniques = trend(event('$pageview', { math: 'dau' }));
const byBrowser = { ...uniques, breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' } };
const funnel = (...names: string[]) => ({
  ...{ kind: 'FunnelsQuery', ...month, series: names.map((name) => event(name)) },
  funnelsFilter: { funnelWindowInterval: 14, funnelWindowIntervalUnit: 'day' },
});
const retention = {
  ...{ kind: 'RetentionQuery', dateRange: { date_from: '-8w' } },
  retentionFilter: {
    ...{ period: 'Week', totalIntervals: 8 },
    targetEntity: { id: '$pageview', type: 'events' },
    returningEntity: { id: '$pageview', type: 'events' },
  },
};

const weekAgo = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);

const recently = (days: number, name: string) =>
  `e.project_id = $1 AND e.event = '${name}' AND e.timestamp >= now() - interval '${days} days'`;
const today = `coalesce(d.person_uuid, e.person_id)`;
const ids = 'LEFT JOIN person_distinct_id d ON d.project_id = e.project_id AND d.distinct_id = e.distinct_id';

export const questions: readonly Question[] = [
  {
    name: 'trend, one event, 30 days',
    query: daily,
    naive: `SELECT date_trunc('day', e.timestamp), count(*) FROM event e WHERE ${recently(30, '$pageview')} GROUP BY 1 ORDER BY 1`,
    umami: umamiPageviews,
    targetMs: { PostgreSQL: 1000, ClickHouse: 100 },
  },
  {
    name: 'trend of a rare event',
    query: rare,
    naive: `SELECT date_trunc('day', e.timestamp), count(*) FROM event e WHERE ${recently(30, 'rare')} GROUP BY 1 ORDER BY 1`,
    targetMs: { PostgreSQL: 50, ClickHouse: 100 },
  },
  {
    name: 'daily uniques, 30 days',
    query: uniques,
    naive: `SELECT date_trunc('day', e.timestamp), count(DISTINCT ${today}) FROM event e ${ids} WHERE ${recently(30, '$pageview')} GROUP BY 1 ORDER BY 1`,
    umami: umamiVisitors,
    targetMs: { PostgreSQL: 2000, ClickHouse: 400 },
  },
  {
    name: 'daily uniques by browser',
    query: byBrowser,
    naive: `SELECT date_trunc('day', e.timestamp), e.properties ->> '$browser', count(DISTINCT ${today}) FROM event e ${ids} WHERE ${recently(30, '$pageview')} GROUP BY 1, 2 ORDER BY 1, 2`,
    targetMs: { PostgreSQL: 5000, ClickHouse: 600 },
  },
  {
    name: 'web overview, 7 days',
    query: { kind: 'WebOverviewQuery', dateRange: { date_from: '-7d' } },
    targetMs: { PostgreSQL: 2000, ClickHouse: 500 },
  },
  {
    name: 'entry pages with bounce rate, 7 days',
    query: {
      ...{ kind: 'WebStatsTableQuery', dateRange: { date_from: '-7d' } },
      ...{ breakdownBy: 'InitialPage', includeBounceRate: true, limit: 10 },
    },
    targetMs: { PostgreSQL: 2000, ClickHouse: 500 },
  },
  {
    name: 'funnel of rare steps',
    query: funnel('added', 'ordered', 'rare'),
    targetMs: { PostgreSQL: 700, ClickHouse: 200 },
  },
  {
    name: 'funnel from $pageview',
    query: funnel('$pageview', 'added', 'ordered'),
    targetMs: { PostgreSQL: 4000, ClickHouse: 700 },
  },
  { name: 'retention, 8 weeks', query: retention, targetMs: { PostgreSQL: 6000, ClickHouse: 900 } },
  {
    name: 'lifecycle, 30 days',
    query: { kind: 'LifecycleQuery', ...month, series: [event('$pageview')] },
    targetMs: { PostgreSQL: 7000, ClickHouse: 1700 },
  },
  {
    name: 'newest page',
    query: { kind: 'EventsQuery', select: ['*'], limit: 100 },
    targetMs: { PostgreSQL: 50, ClickHouse: 50 },
  },
  {
    name: 'page of an event with two filters',
    query: {
      ...{ kind: 'EventsQuery', select: ['*'], event: 'ordered', after: '-30d', limit: 100 },
      properties: [
        { key: '$browser', type: 'event', operator: 'exact', value: 'Safari' },
        { key: 'price', type: 'event', operator: 'gt', value: 150 },
      ],
    },
    targetMs: { PostgreSQL: 300, ClickHouse: 600 },
  },
  {
    name: 'persons behind a point',
    query: {
      kind: 'ActorsQuery',
      source: { kind: 'InsightActorsQuery', source: uniques, day: weekAgo, series: 0 },
      limit: 100,
    },
    targetMs: { PostgreSQL: 200, ClickHouse: 100 },
  },
];

/** What the tiles below are, one by one: the targets of these count for them. */
export const questionsOfTiles: readonly string[] = [
  ...['trend, one event, 30 days', 'trend of a rare event', 'trend, one event, 30 days'],
  ...['daily uniques, 30 days', 'daily uniques, 30 days'],
  ...['daily uniques by browser', 'funnel of rare steps', 'retention, 8 weeks'],
];

/** Three trends, two of uniques, a breakdown, a funnel of rare steps and a retention. */
export const dashboardTiles: readonly object[] = [
  ...[daily, rare, trend(event('clicked'))],
  ...[uniques, trend(event('clicked', { math: 'dau' }))],
  ...[byBrowser, funnel('added', 'ordered', 'rare'), retention],
];
