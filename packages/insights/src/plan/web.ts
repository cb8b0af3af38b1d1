import { pageViews, type WebBreakdown, type WebStoreQuery } from '../event-store/queries.ts';
import type { Breakdown, Property } from '../event-store/selection.ts';
import { createQueryError, isRecord } from '../query-parts.ts';
import type { WebBreakdownName, WebQuery, WebStatsTableQuery } from '../web-query.ts';
import { readFilters } from './conditions.ts';
import { type PlanContext, readQueryFilters } from './context.ts';
import type { Period } from './dates.ts';
import { planPeriods } from './trends.ts';

export interface WebPlan {
  query: WebQuery;
  period: Period;
  current: WebStoreQuery;
  /** The query for the previous period, or null if the query does not compare periods. */
  previous: WebStoreQuery | null;
  limit: number;
}

const usualLimit = 100;
/** Maximum number of intervals in a range. */
const maxBuckets = 10_000;

export function planWeb(query: WebQuery, context: PlanContext): WebPlan {
  const { interval = 'day', properties, ...rest } = query;
  const { ofViews, entry, exit } = splitFilters(properties, context);
  const where = readQueryFilters({ ...rest, properties: ofViews }, context);
  const [current, previous] = planPeriods(query, { context, interval, isExact: false });
  if (current === undefined) throw new Error('A query has at least one period.');
  const limit = query.kind === 'WebStatsTableQuery' ? (query.limit ?? usualLimit) : maxBuckets;
  const createStoreQuery = ({ from, to, edges }: Period): WebStoreQuery => ({
    select: { projectId: context.settings.projectId, events: [...pageViews], from, to, where },
    entry,
    exit,
    edges: query.kind === 'WebTrendsQuery' ? edges : [],
    breakdown: query.kind === 'WebStatsTableQuery' ? breakdownOf(query) : null,
    order: query.kind === 'WebStatsTableQuery' ? orderOf(query) : { by: 'visitors', isDescending: true },
    // Read one more row than the page needs, to find out whether more rows exist.
    limit: limit + 1,
    offset: query.kind === 'WebStatsTableQuery' ? (query.offset ?? 0) : 0,
  });
  return {
    query,
    limit,
    period: current.period,
    current: createStoreQuery(current.period),
    previous: previous === undefined ? null : createStoreQuery(previous.period),
  };
}

/**
 * Session properties that filters can test. Each is a property (`key`) of the session's first page view (`entry`) or
 * last page view (`exit`).
 */
const sessionProperties: Record<string, { of: 'entry' | 'exit'; key: string }> = Object.fromEntries([
  ...['$pathname', '$current_url', '$host', '$referrer', '$referring_domain'].map((key) => [
    `$entry_${key.slice(1)}`,
    { of: 'entry', key },
  ]),
  ...['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'].map((key) => [
    `$entry_${key}`,
    { of: 'entry', key },
  ]),
  ...['$pathname', '$current_url'].map((key) => [`$end_${key.slice(1)}`, { of: 'exit', key }]),
]);

/**
 * Translates session filters into filters on the first or last page view. Errors contain the position of a filter in
 * the original list.
 */
function splitFilters(properties: unknown, context: PlanContext) {
  const filters = Array.isArray(properties) ? properties : [];
  const isOfSession = (filter: unknown) => isRecord(filter) && filter.type === 'session';
  const sessions = filters.map((filter, at) => {
    if (!isRecord(filter) || !isOfSession(filter)) return null;
    const known = sessionProperties[String(filter.key)];
    if (known !== undefined) return { of: known.of, filter: { ...filter, type: 'event', key: known.key } };
    const names = Object.keys(sessionProperties).join(', ');
    throw createQueryError(
      `properties.${at}.key`,
      `"${String(filter.key).slice(0, 100)}" is not supported. Choose one of: ${names}.`,
    );
  });
  // Replace all other filters with empty filters, so that errors contain the right position.
  const only = (of: 'entry' | 'exit') =>
    readFilters(
      sessions.map((one) => (one?.of === of ? one.filter : {})),
      'properties',
      context,
    );
  return {
    ofViews: Array.isArray(properties) ? filters.map((filter) => (isOfSession(filter) ? {} : filter)) : properties,
    entry: only('entry'),
    exit: only('exit'),
  };
}

const event = (key: string): Property => ({ of: 'event', key });

const breakdowns: Record<WebBreakdownName, { of: WebBreakdown['of']; property: Property }> = {
  Page: { of: 'view', property: event('$pathname') },
  InitialPage: { of: 'entry', property: event('$pathname') },
  ExitPage: { of: 'exit', property: event('$pathname') },
  ScreenName: { of: 'view', property: event('$screen_name') },
  InitialReferringDomain: { of: 'entry', property: event('$referring_domain') },
  InitialUTMSource: { of: 'entry', property: event('utm_source') },
  InitialUTMMedium: { of: 'entry', property: event('utm_medium') },
  InitialUTMCampaign: { of: 'entry', property: event('utm_campaign') },
  InitialUTMTerm: { of: 'entry', property: event('utm_term') },
  InitialUTMContent: { of: 'entry', property: event('utm_content') },
  Browser: { of: 'view', property: event('$browser') },
  OS: { of: 'view', property: event('$os') },
  DeviceType: { of: 'view', property: event('$device_type') },
  Country: { of: 'view', property: event('$geoip_country_code') },
};

function breakdownOf({ breakdownBy, includeBounceRate = false }: WebStatsTableQuery): WebBreakdown {
  const { of, property } = breakdowns[breakdownBy];
  const value: Breakdown = { property, isUrl: false, isBoolean: false, bins: null };
  return {
    of,
    value,
    // A row for sessions without a campaign is useful, but a row for page views without a path is not.
    hidesNull: !breakdownBy.startsWith('InitialUTM'),
    ratesEntries: breakdownBy === 'Page' && includeBounceRate,
    only: null,
  };
}

const orderNames = { Visitors: 'visitors', Views: 'views', BounceRate: 'bounces' } as const;

function orderOf({ orderBy, includeBounceRate }: WebStatsTableQuery): WebStoreQuery['order'] {
  const [field = 'Visitors', direction = 'DESC'] = orderBy ?? [];
  if (!(field in orderNames))
    throw createQueryError('orderBy.0', `Choose one of: ${Object.keys(orderNames).join(', ')}.`);
  if (direction !== 'ASC' && direction !== 'DESC') throw createQueryError('orderBy.1', 'Choose one of: ASC, DESC.');
  if (field === 'BounceRate' && !includeBounceRate)
    throw createQueryError('orderBy.0', '`BounceRate` requires `includeBounceRate`.');
  return { by: orderNames[field as keyof typeof orderNames], isDescending: direction === 'DESC' };
}
