// Cases web-001 to web-063: web analytics.

import type { InsightCase } from '../case-world.ts';
import { badRequest, filter, history, march, row } from './rows.ts';

const view = (day: string, session: string, path: string, ...more: string[]) => [`$pageview ${day}`, `$session_id=${session}`, `$pathname=${path}`, ...more].join(' ');
const happened = (event: string, day: string, session: string, ...more: string[]) => [`${event} ${day}`, `$session_id=${session}`, ...more].join(' ');

/**
 * Four persons in March 2024. Ann has two sessions: a1 with three pages in 120 s, and a2 with a single page (a bounce).
 * Bob reads one page for 60 s (b1). Cid clicks on his only page (c1). Dee views her only page for 4 s (d1, a bounce).
 * Her session d0 was earlier.
 */
const site = history({
  ann: [
    view('8 10:00:00', 'a1', '/', '$referring_domain=search.test', 'utm_source=news', '$browser=Condor', '$os=Mill', '$device_type=Desktop', '$geoip_country_code=DE'),
    view('8 10:01:00', 'a1', '/pricing', '$referring_domain=search.test', '$browser=Condor', '$os=Mill', '$device_type=Desktop', '$geoip_country_code=DE'),
    view('8 10:02:00', 'a1', '/docs', '$referring_domain=search.test', '$browser=Condor', '$os=Mill', '$device_type=Desktop', '$geoip_country_code=DE'),
    view('10 09:00:00', 'a2', '/docs', '$referring_domain=$direct', '$browser=Condor', '$os=Mill', '$device_type=Desktop', '$geoip_country_code=DE'),
  ],
  bob: [view('9 12:00:00', 'b1', '/', '$referring_domain=$direct', '$browser=Falcon', '$device_type=Mobile', '$geoip_country_code=FR'), happened('$pageleave', '9 12:01:00', 'b1', '$pathname=/')],
  cid: [view('9 13:00:00', 'c1', '/pricing', '$referring_domain=search.test', 'utm_source=ads', 'utm_medium=cpc', 'utm_campaign=spring', 'utm_term=mill', 'utm_content=red', '$browser=Falcon', '$geoip_country_code=FR'), happened('$autocapture', '9 13:00:02', 'c1')],
  dee: [
    view('3 08:00:00', 'd0', '/', '$referring_domain=$direct', '$browser=Condor'),
    view('3 08:00:30', 'd0', '/docs', '$referring_domain=$direct', '$browser=Condor'),
    view('11 08:00:00', 'd1', '/', '$referring_domain=search.test', 'utm_source=news', '$browser=Condor'),
    happened('$pageleave', '11 08:00:04', 'd1', '$pathname=/'),
    // Events without a session are never counted.
    '$pageview 11 15:00:00 $pathname=/',
    '$pageview 11 15:01:00 $pathname=/ $session_id=',
    // A session without a page view is not a website session.
    happened('ordered', '11 16:00:00', 'd2'),
  ],
  eve: ['$screen 12 10:00:00 $session_id=e1 $screen_name=Home', '$screen 12 10:00:03 $session_id=e1 $screen_name=Cart'],
});

const overview = (more: object = {}) => ({ kind: 'WebOverviewQuery', ...march(7, 11), ...more });
const table = (breakdownBy: string, more: object = {}) => ({ kind: 'WebStatsTableQuery', breakdownBy, ...march(7, 11), ...more });
const trend = (more: object = {}) => ({ kind: 'WebTrendsQuery', ...march(7, 11), metrics: ['UniqueUsers', 'PageViews', 'Sessions', 'SessionDuration', 'Bounces'], ...more });
const compare = { compareFilter: { compare: true } };
const rates = { includeBounceRate: true };

const numbers = (visitors: number, views: number, sessions: number, seconds: number | null, bounces: number | null) => ({ results: [visitors, views, sessions, seconds, bounces].map((value) => ({ value })) });
type Row = [string | null, [number, number | null], [number, number | null], ...[number | null, number | null][]];
/** Expects the rows of a table. The last column is the share of all visitors. */
const rows = (...results: Row[]) => {
  const all = results.reduce((sum, [, [visitors]]) => sum + visitors, 0);
  return { results: results.map((values) => [...values, values[1][0] / all]) };
};
const one = (value: string | null, visitors: number, views: number, ...rates: (number | null)[]): Row => [value, [visitors, null], [views, null], ...rates.map((rate): [number | null, null] => [rate, null])];
const c = (no: number, name: string, query: object, expect: object, settings: Parameters<typeof row>[5] = {}) => row(`web-${String(no).padStart(3, '0')}`, name, site, query, expect, settings);
const session = (key: string, value: unknown, operator = 'exact') => filter(key, operator, value, { type: 'session' });

export const web: InsightCase[] = [
  c(1, 'returns five numbers', overview(), numbers(4, 7, 5, (120 + 0 + 60 + 2 + 4) / 5, 40)),
  c(2, 'returns the names and kinds of the numbers', overview(), {
    results: [
      { key: 'visitors', kind: 'unit', isIncreaseBad: null, previous: null, changeFromPreviousPct: null },
      { key: 'views', kind: 'unit', isIncreaseBad: null },
      { key: 'sessions', kind: 'unit', isIncreaseBad: null },
      { key: 'session duration', kind: 'duration_s', isIncreaseBad: null },
      { key: 'bounce rate', kind: 'percentage', isIncreaseBad: true },
    ],
    dateFrom: '2024-03-07 00:00:00',
    dateTo: '2024-03-11 23:59:59',
  }),
  c(3, 'compares with the period before', overview(compare), {
    results: [
      { value: 4, previous: 1, changeFromPreviousPct: 300 },
      { value: 7, previous: 2, changeFromPreviousPct: 250 },
      { value: 5, previous: 1, changeFromPreviousPct: 400 },
      { previous: 30, changeFromPreviousPct: 24 },
      { value: 40, previous: 0, changeFromPreviousPct: null },
    ],
  }),
  c(4, 'compares with a given earlier period', overview({ ...march(10, 11), compareFilter: { compare: true, compare_to: '-1w' } }), {
    results: [
      [2, 1],
      [2, 2],
      [2, 1],
      [2, 30],
      [100, 0],
    ].map(([value, previous]) => ({ value, previous })),
  }),
  c(5, 'returns zeros and nulls without visitors', overview(march(14, 15)), numbers(0, 0, 0, null, null)),
  c(6, 'compares no visitors with a period that has some', overview({ ...march(4, 5), ...compare }), {
    results: [
      { value: 0, previous: 1, changeFromPreviousPct: -100 },
      { value: 0, previous: 2 },
      { value: 0, previous: 1 },
      { value: null, previous: 30, changeFromPreviousPct: null },
      { value: null, previous: 0 },
    ],
  }),
  c(7, 'screens of apps count as views', overview(march(12, 12)), numbers(1, 2, 1, 3, 0)),
  c(8, 'a session counts in the interval in which it starts', overview({ dateRange: { date_from: '2024-03-08T10:00:30Z', date_to: '2024-03-08T23:00:00Z' }, interval: 'hour' }), numbers(0, 0, 0, null, null)),
  c(9, 'the duration of a session includes the time after the range', overview({ dateRange: { date_from: '2024-03-08T09:00:00Z', date_to: '2024-03-08T10:00:30Z' }, interval: 'minute' }), numbers(1, 1, 1, 120, 0)),
  c(10, 'event filters select page views', overview({ properties: [filter('$browser', 'exact', 'Condor')] }), numbers(2, 5, 3, 124 / 3, (2 / 3) * 100)),
  c(11, 'event filters do not change the duration and bounces of sessions', overview({ properties: [filter('$pathname', 'exact', '/docs')] }), numbers(1, 2, 2, 60, 50)),
  c(12, 'supports groups of filters', overview({ properties: { type: 'OR', values: [filter('$browser', 'exact', 'Falcon'), filter('$pathname', 'exact', '/docs')] } }), numbers(3, 4, 4, (120 + 0 + 60 + 2) / 4, 25)),
  c(13, 'filters by entry page', overview({ properties: [session('$entry_pathname', '/')] }), numbers(3, 5, 3, 184 / 3, 100 / 3)),
  c(14, 'filters by exit page', overview({ properties: [session('$end_pathname', ['/docs', '/pricing'])] }), numbers(2, 5, 3, 122 / 3, 100 / 3)),
  c(15, 'combines filters by first referrer and by event', overview({ properties: [session('$entry_referring_domain', 'search.test'), filter('$browser', 'exact', 'Condor')] }), numbers(2, 4, 2, 62, 50)),
  c(16, 'a campaign applies to the whole session', overview({ properties: [session('$entry_utm_source', 'news')] }), numbers(2, 4, 2, 62, 50)),
  c(17, 'filters sessions without a campaign', overview({ properties: [session('$entry_utm_source', '', 'is_not_set')] }), numbers(2, 2, 2, 30, 50)),
  c(18, 'filters by part of a path', overview({ properties: [session('$entry_pathname', 'pric', 'icontains')] }), numbers(1, 1, 1, 2, 0)),
  c(19, 'excludes test accounts', overview({ filterTestAccounts: true }), numbers(2, 5, 3, 124 / 3, (2 / 3) * 100), { testAccountFilters: [filter('$browser', 'is_not', 'Falcon')] }),
  c(20, 'merged persons are one visitor', overview(), numbers(3, 7, 5, 186 / 5, 40), { merges: [['bob', 'cid']] }),
  c(21, 'days are in the time zone of the project', overview(march(8, 8)), numbers(1, 3, 1, 120, 0), { timezone: 'Pacific/Auckland' }),

  c(22, 'lists pages', table('Page'), rows(one('/', 3, 3), one('/pricing', 2, 2), one('/docs', 1, 2))),
  c(23, 'the bounce rate of a page is that of the sessions that start there', table('Page', rates), rows(one('/', 3, 3, 1 / 3), one('/pricing', 2, 2, 0), one('/docs', 1, 2, 1))),
  c(24, 'lists entry pages', table('InitialPage', rates), rows(one('/', 3, 5, 1 / 3), one('/docs', 1, 1, 1), one('/pricing', 1, 1, 0))),
  c(25, 'lists exit pages', table('ExitPage', rates), rows(one('/', 2, 2, 0.5), one('/docs', 1, 4, 0.5), one('/pricing', 1, 1, 0))),
  c(26, 'lists referrers', table('InitialReferringDomain'), rows(one('search.test', 3, 5), one('$direct', 2, 2))),
  c(27, 'lists sources, and sessions without one', table('InitialUTMSource'), rows(one('news', 2, 4), one(null, 2, 2), one('ads', 1, 1))),
  c(28, 'lists mediums', table('InitialUTMMedium'), rows(one(null, 3, 6), one('cpc', 1, 1))),
  c(29, 'lists campaigns', table('InitialUTMCampaign'), rows(one(null, 3, 6), one('spring', 1, 1))),
  c(30, 'lists terms', table('InitialUTMTerm'), rows(one(null, 3, 6), one('mill', 1, 1))),
  c(31, 'lists contents', table('InitialUTMContent'), rows(one(null, 3, 6), one('red', 1, 1))),
  c(32, 'lists browsers', table('Browser', rates), rows(one('Condor', 2, 5, 2 / 3), one('Falcon', 2, 2, 0))),
  c(33, 'lists operating systems, except for unknown ones', table('OS'), rows(one('Mill', 1, 4))),
  c(34, 'lists device types', table('DeviceType'), rows(one('Desktop', 1, 4), one('Mobile', 1, 1))),
  c(35, 'lists countries', table('Country'), rows(one('FR', 2, 2), one('DE', 1, 4))),
  c(36, 'lists screens', table('ScreenName', march(12, 12)), rows(one('Cart', 1, 1), one('Home', 1, 1))),
  c(37, 'returns the columns of a table', table('Browser', rates), { columns: ['breakdown_value', 'visitors', 'views', 'bounce_rate', 'ui_fill_fraction'].map((name) => `context.columns.${name}`), hasMore: false, limit: 100, offset: 0 }),
  c(38, 'returns a page of rows, and whether more exist', table('Page', { limit: 1 }), { results: [[...one('/', 3, 3), 0.5]], hasMore: true, limit: 1 }),
  c(39, 'returns the next page of rows', table('Page', { limit: 1, offset: 2 }), { results: [[...one('/docs', 1, 2), 1 / 6]], hasMore: false, offset: 2 }),
  c(40, 'sorts by views', table('Country', { orderBy: ['Views', 'DESC'] }), {
    results: [
      [...one('DE', 1, 4), 4 / 6],
      [...one('FR', 2, 2), 2 / 6],
    ],
  }),
  c(41, 'sorts in ascending order', table('Page', { orderBy: ['Visitors', 'ASC'] }), rows(one('/docs', 1, 2), one('/pricing', 2, 2), one('/', 3, 3))),
  c(42, 'sorts by bounce rate', table('Page', { ...rates, orderBy: ['BounceRate', 'DESC'] }), {
    results: [
      [...one('/docs', 1, 2, 1), 1],
      [...one('/', 3, 3, 1 / 3), 1 / 3],
      [...one('/pricing', 2, 2, 0), 0],
    ],
  }),
  c(43, 'the bar of a row shows its share of all visitors', table('Browser'), {
    results: [
      [...one('Condor', 2, 5), 0.5],
      [...one('Falcon', 2, 2), 0.5],
    ],
  }),
  c(44, 'compares the displayed rows with the period before', table('Page', { ...compare, ...rates }), rows(['/', [3, 1], [3, 1], [1 / 3, 0]], ['/pricing', [2, 0], [2, 0], [0, null]], ['/docs', [1, 1], [2, 1], [1, null]])),
  c(45, 'also compares the missing value', table('InitialUTMSource', compare), rows(['news', [2, 0], [4, 0]], [null, [2, 1], [2, 2]], ['ads', [1, 0], [1, 0]])),
  c(46, 'lists the pages of filtered sessions', table('Page', { properties: [session('$entry_utm_source', 'news')] }), rows(one('/', 2, 2), one('/docs', 1, 1), one('/pricing', 1, 1))),

  c(47, 'returns the numbers of each day', trend(), {
    results: [
      { bucket: '2024-03-07', metrics: { UniqueUsers: 0, PageViews: 0, Sessions: 0, SessionDuration: null, Bounces: null } },
      { bucket: '2024-03-08', metrics: { UniqueUsers: 1, PageViews: 3, Sessions: 1, SessionDuration: 120, Bounces: 0 } },
      { bucket: '2024-03-09', metrics: { UniqueUsers: 2, PageViews: 2, Sessions: 2, SessionDuration: 31, Bounces: 0 } },
      { bucket: '2024-03-10', metrics: { UniqueUsers: 1, PageViews: 1, Sessions: 1, SessionDuration: 0, Bounces: 1 } },
      { bucket: '2024-03-11', metrics: { UniqueUsers: 1, PageViews: 1, Sessions: 1, SessionDuration: 4, Bounces: 1 } },
    ],
  }),
  c(48, 'returns only the requested numbers', trend({ ...march(8, 8), metrics: ['PageViews'] }), { results: [{ bucket: '2024-03-08', metrics: { PageViews: 3 } }] }),
  c(49, 'returns the numbers of each hour', trend({ dateRange: { date_from: '2024-03-09T11:00:00Z', date_to: '2024-03-09T14:00:00Z' }, interval: 'hour', metrics: ['Sessions'] }), {
    results: [11, 12, 13, 14].map((hour) => ({ bucket: `2024-03-09 ${hour}:00:00`, metrics: { Sessions: hour === 12 || hour === 13 ? 1 : 0 } })),
  }),
  ...(
    [
      [overview({ conversionGoal: { customEventName: 'order placed' } }), 'conversionGoal: Unknown field'],
      [overview({ includeRevenue: true }), 'includeRevenue'],
      [overview({ breakdownBy: 'Page' }), 'breakdownBy: Unknown field'],
      [overview({ properties: [session('$channel_type', 'Direct')] }), 'properties.0.key'],
      [overview({ properties: [filter('$browser', 'exact', 'x'), session('$entry_pathname', '(', 'regex')] }), 'properties.1.value'],
      [overview({ properties: { type: 'AND', values: [session('$entry_pathname', '/')] } }), 'properties.values.0.type'],
      [table('InitialChannelType'), 'breakdownBy: Choose one of'],
      [table('Page', { doPathCleaning: true }), 'doPathCleaning'],
      [table('Page', { includeScrollDepth: true }), 'includeScrollDepth'],
      [table('Page', { orderBy: ['Clicks', 'DESC'] }), 'orderBy.0'],
      [table('Page', { orderBy: ['DESC', 'Views'] }), 'orderBy.0'],
      [table('Page', { orderBy: ['BounceRate', 'DESC'] }), 'orderBy.0'],
      [trend({ compareFilter: { compare: true } }), 'compareFilter: Unknown field'],
      [trend({ metrics: ['TotalSessions'] }), 'metrics.0'],
    ] as const
  ).map(([query, part], at) => c(50 + at, `rejects ${part}`, query, badRequest(part))),
];
