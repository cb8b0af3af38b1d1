// The requests of the insight benchmark on ClickHouse: pages and queries, as the console sends them.

import { createHash } from 'node:crypto';
import {
  breakdownBy,
  createFunnelQuery,
  createTrendQuery,
  daily,
  dashboardTiles,
  event,
  queries,
  week,
} from './queries.ts';

export interface ApiRequest {
  name: string;
  /** URL path, relative to the project's path. */
  path: string;
  body?: object;
  /** Target time in milliseconds with a hundred million events in 90 days, on two cores. */
  targetMs?: number | undefined;
}

export interface Sent {
  status: number;
  body: string;
  ms: number;
}

export type Send = (request: ApiRequest) => Promise<Sent>;

/** The number of a regular visitor into whom a different person was merged. */
export const listedPerson = 801;
export const listedPersonUuid = createHash('md5')
  .update(`person ${listedPerson}`)
  .digest('hex')
  .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
export const personTimeline = `events/?limit=100&person_id=${listedPersonUuid}`;
export const personSearch = `persons/?search=person${listedPerson}@example.com`;

/** Returns a request for a query whose result is computed and not read from the cache. */
export const buildQueryRequest = (query: object) => ({ path: 'query/', body: { query, refresh: 'force_blocking' } });

const ofProperty = (key: string, value: string | number) =>
  encodeURIComponent(JSON.stringify([{ key, type: 'event', operator: 'exact', value }]));

const pages: readonly ApiRequest[] = [
  { name: 'person timeline', path: personTimeline, targetMs: 500 },
  { name: 'events of a distinct ID', path: `events/?limit=100&distinct_id=id%20${listedPerson}`, targetMs: 500 },
  { name: 'newest events', path: 'events/?limit=100', targetMs: 400 },
  { name: 'newest events with a rare name', path: 'events/?limit=100&event=rare', targetMs: 500 },
  // One event in 20,000 has the price that this query filters by.
  {
    name: 'newest events with a rare property value',
    path: `events/?limit=100&properties=${ofProperty('price', 123.45)}`,
    targetMs: 2000,
  },
  {
    name: 'newest events with a property value that no event has',
    path: `events/?limit=100&properties=${ofProperty('order_code', '12345')}`,
  },
  { name: 'oldest events', path: 'events/?limit=100&orderBy=timestamp', targetMs: 500 },
  { name: 'person search by email', path: personSearch, targetMs: 500 },
];

export const weekly = createTrendQuery(event('$pageview', { math: 'weekly_active' }));
export const byPlan = { ...daily, ...breakdownBy('plan') };
export const byPersonPlan = { ...daily, ...breakdownBy('plan', 'person') };
const ofPaying = { properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }] };
const lifecycle = (range: object) => ({ kind: 'LifecycleQuery', ...range, series: [event('$pageview')] });
const ofPageView = createFunnelQuery('$pageview', 'added', 'ordered');
const funnelWith = (filter: object) => ({ ...ofPageView, funnelsFilter: { ...ofPageView.funnelsFilter, ...filter } });

/** Targets for queries that the benchmark on PostgreSQL also runs. */
const targets: Readonly<Record<string, number>> = {
  'daily uniques, 30 days': 1500,
  'funnel of rare steps': 1000,
  'funnel from $pageview': 5000,
  'retention, 8 weeks': 4000,
  'lifecycle, 30 days': 5000,
};

export const apiRequests: readonly ApiRequest[] = [
  ...pages,
  ...queries.map(({ name, query }) => ({ name, ...buildQueryRequest(query), targetMs: targets[name] })),
  { name: 'weekly actives, 30 days', ...buildQueryRequest(weekly), targetMs: 4000 },
  {
    name: 'monthly actives, 30 days',
    ...buildQueryRequest(createTrendQuery(event('$pageview', { math: 'monthly_active' }))),
    targetMs: 6000,
  },
  { name: 'total by a person property, 30 days', ...buildQueryRequest(byPersonPlan), targetMs: 5000 },
  {
    name: 'total with a filter by a person property, 30 days',
    ...buildQueryRequest({ ...daily, ...ofPaying }),
    targetMs: 5000,
  },
  { name: 'lifecycle, 7 days', ...buildQueryRequest(lifecycle(week)), targetMs: 2000 },
  {
    name: 'funnel from $pageview by $browser',
    ...buildQueryRequest({ ...ofPageView, ...breakdownBy('$browser') }),
    targetMs: 5000,
  },
  {
    name: 'funnel from $pageview, conversion time',
    ...buildQueryRequest(funnelWith({ funnelVizType: 'time_to_convert' })),
  },
  { name: 'funnel from $pageview over time', ...buildQueryRequest(funnelWith({ funnelVizType: 'trends' })) },
  {
    name: 'funnel from $pageview with an exclusion',
    ...buildQueryRequest(funnelWith({ exclusions: [event('viewed', { funnelFromStep: 0, funnelToStep: 1 })] })),
  },
  {
    name: 'persons who dropped off in a funnel',
    ...buildQueryRequest({
      kind: 'ActorsQuery',
      source: { kind: 'FunnelsActorsQuery', source: ofPageView, funnelStep: -2 },
      limit: 100,
    }),
  },
  {
    name: 'sum of an unusual property, 30 days',
    ...buildQueryRequest(createTrendQuery(event('$pageview', { math: 'sum', math_property: 'price' }))),
    targetMs: 3000,
  },
  { name: 'total by an unusual property, 30 days', ...buildQueryRequest(byPlan), targetMs: 3000 },
  {
    name: 'total by an unusual property, 90 days',
    ...buildQueryRequest({ ...byPlan, dateRange: { date_from: '-90d' } }),
    targetMs: 9000,
  },
];

export const tileRequests = dashboardTiles.map((query): ApiRequest => ({ name: 'tile', ...buildQueryRequest(query) }));
export const dashboardTargetMs = 7000;
export const firstTileTargetMs = 1000;
export const cohortTargetMs = 120_000;
