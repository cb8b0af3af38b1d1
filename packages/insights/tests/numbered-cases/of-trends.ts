// Cases insight-001 to insight-125: dates, series, aggregations, formulas, comparisons, breakdowns and filters.

import type { InsightCase } from '../case-world.ts';
import { badRequest, days, daysFrom, display, filter, history, left, march, node, nullValue, otherValue, person, range, row, sale, seen, series, tick, trends } from './rows.ts';

const data = (...numbers: number[]) => series({ data: numbers });
const march7to17 = daysFrom('2024-03-07', 11);
const seenByDay = [1, 0, 1, 3, 1, 0, 2, 0, 1, 0, 1];

const today = history({ ivy: ['tick 15 10:00', 'tick 15 13:59', 'tick 15 14:20', 'tick 15 16:00'] });
const halfPastTwo = { now: '2024-03-15T14:30:00Z' };
const late = history({ ivy: ['tick 8 23:30'] });
const edges = history({ ivy: ['tick 9 04:59', 'tick 9 05:00', 'tick 10 04:59', 'tick 10 05:30'] });
const hoursOfFall = history({ ivy: Array.from({ length: 25 }, (_, at) => (at < 20 ? `tick 2024-11-03 ${String(4 + at).padStart(2, '0')}:30` : `tick 2024-11-04 0${at - 20}:30`)) });

export const dates: InsightCase[] = [
  row('insight-001', 'shows each day of an absolute range', 'visits', trends(seen), { results: [{ ...{ days: march7to17, labels: march7to17.map((_, at) => `${7 + at}-Mar-2024`), data: seenByDay }, ...{ count: 10, label: 'page seen', order: 0 } }], hasMore: false }),
  row('insight-002', 'hours end with the first hour of an end date without a time', 'visits', trends(seen, { ...march(7, 7), interval: 'hour' }), { results: [{ days: ['2024-03-07 00:00:00'], labels: ['7-Mar 00:00'], data: [0] }] }),
  row('insight-003', 'shows eight days by default', today, { kind: 'TrendsQuery', series: [tick] }, days(...daysFrom('2024-03-08', 8)), halfPastTwo),
  row('insight-004', 'counts later events of today in the current day', today, trends(tick, range('dStart')), data(4), halfPastTwo),
  row('insight-005', 'a total excludes later events of today', today, trends(tick, { ...range('dStart'), ...display('BoldNumber') }), series({ aggregated_value: 3 }), halfPastTwo),
  row('insight-006', 'hours include the current one', today, trends(tick, { ...range('-4h'), interval: 'hour' }), series({ days: ['10', '11', '12', '13', '14'].map((hour) => `2024-03-15 ${hour}:00:00`), data: [1, 0, 0, 1, 1] }), halfPastTwo),
  row('insight-007', 'the last 24 hours consist of 25 intervals', today, trends(tick, { ...range('-24h'), interval: 'hour' }), series({ days: Array.from({ length: 25 }, (_, at) => new Date(Date.parse('2024-03-14T14:00:00Z') + at * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')) }), halfPastTwo),
  row('insight-008', 'shows yesterday completely', today, trends(tick, range('-1dStart', '-1dEnd')), series({ days: ['2024-03-15'], data: [4] }), { now: '2024-03-16T00:00:00Z' }),
  row('insight-009', 'the last twenty hours by day start within a day', history({ ivy: ['tick 15 03:59', 'tick 15 04:00'] }), trends(tick, range('-20h')), series({ days: ['2024-03-15', '2024-03-16'], data: [1, 0] }), { now: '2024-03-16T00:00:00Z' }),
  row('insight-010', 'shows last month', late, trends(tick, range('-1mStart', '-1mEnd')), days(...daysFrom('2024-03-01', 31)), { now: '2024-04-30T12:00:00Z' }),
  row('insight-011', 'shows last month on a day that it does not have', late, trends(tick, range('-1mStart', '-1mEnd')), days(...daysFrom('2024-02-01', 29)), { now: '2024-03-31T12:00:00Z' }),
  row('insight-012', 'all time starts with the first event', late, trends(tick, range('all')), days(...daysFrom('2024-03-08', 9)), { now: '2024-03-16T12:00:00Z' }),
  row('insight-013', 'all time of an empty project is the last eight days', history({}), trends(tick, range('all')), series({ days: daysFrom('2024-03-13', 8), data: Array(8).fill(0), count: 0 })),
  row('insight-014', 'exact times exclude parts of the first and last day', edges, trends(tick, range('2024-03-09T05:00:00Z', '2024-03-10T05:00:00Z', { explicitDate: true })), series({ days: ['2024-03-09', '2024-03-10'], data: [1, 1] })),
  row('insight-015', 'dates include the whole first and last day', edges, trends(tick, march(9, 10)), data(2, 2)),
  row('insight-016', 'a time with an offset is converted to UTC before its day is determined', edges, trends(tick, range('2024-03-10T01:00:00-04:00', '2024-03-10')), days('2024-03-10')),
  row('insight-017', 'a range that ends before it starts is empty', 'visits', trends(seen, march(17, 7)), series({ data: [], count: 0 })),
  row('insight-018', 'days are those of Tokyo', late, trends(tick, march(9, 10)), data(1, 0), { timezone: 'Asia/Tokyo' }),
  row('insight-019', 'shows a day of 23 hours in New York', history({ ivy: ['tick 10 04:59:59', 'tick 10 05:00', 'tick 11 03:59:59', 'tick 11 04:00'] }), trends(tick, march(8, 11)), series({ days: daysFrom('2024-03-08', 4), data: [0, 1, 2, 1] }), { timezone: 'America/New_York' }),
  row('insight-020', 'shows a day of 25 hours in New York', hoursOfFall, trends(tick, { ...range('2024-11-03', '2024-11-03T23:59:59'), interval: 'hour' }), series({ data: Array(25).fill(1), count: 25 }), { timezone: 'America/New_York', now: '2024-11-10T12:00:00Z' }),
  row('insight-021', 'supports a day without midnight in Cairo', history({ ivy: ['23', '24', '25', '26', '27'].map((day) => `tick 2025-04-${day} 10:00`) }), trends(tick, range('2025-04-23', '2025-04-27')), series({ days: daysFrom('2025-04-23', 5), data: [1, 1, 1, 1, 1] }), {
    timezone: 'Africa/Cairo',
    now: '2025-05-01T12:00:00Z',
  }),
  row('insight-022', 'days in Kathmandu end at 18:15 UTC', history({ ivy: ['tick 8 18:14:59', 'tick 8 18:15'] }), trends(tick, march(8, 9)), data(1, 1), { timezone: 'Asia/Kathmandu' }),
  row('insight-023', 'weeks start on Sunday', late, trends(tick, { ...range('-20d'), interval: 'week' }), days('2024-02-18', '2024-02-25', '2024-03-03', '2024-03-10'), { now: '2024-03-13T12:00:00Z' }),
  row('insight-024', 'weeks start on Monday', late, trends(tick, { ...range('-20d'), interval: 'week' }), days('2024-02-19', '2024-02-26', '2024-03-04', '2024-03-11'), { now: '2024-03-13T12:00:00Z', weekStart: 1 }),
  row('insight-025', 'a week that starts before the range contains only the days in the range', history({ ivy: ['tick 5', 'tick 9'] }), trends(tick, { ...march(9, 16), interval: 'week' }), series({ days: ['2024-03-03', '2024-03-10'], labels: ['9-Mar-2024', '10–16 Mar'], data: [1, 0] })),
  row('insight-026', 'a month that starts before the range is complete', history({ ivy: ['tick 1', 'tick 5', 'tick 15'] }), trends(tick, { ...march(12, 20), interval: 'month' }), series({ days: ['2024-03-01'], data: [3] })),
  row('insight-029', 'rejects minutes over two months', 'visits', trends(seen, { ...range('-60d'), interval: 'minute' }), badRequest('interval')),
  row(
    'insight-030',
    'all series and periods have the same current time',
    'visits',
    trends([seen, left], { ...range('-1d'), compareFilter: { compare: true } }),
    series(...[0, 1].map((order) => ({ order, compare_label: 'current', days: ['2024-03-18', '2024-03-19'] })), ...[0, 1].map((order) => ({ order, compare_label: 'previous' }))),
    { now: '2024-03-19T23:59:59.999Z' },
  ),
];

const orders = history({ kim: ['order 4 09:00 sum=10', 'order 4 10:00 sum="25.5"', 'order 4 11:00 sum=100', 'order 4 12:00 sum=many', 'order 4 13:00 sum=true', 'order 4 14:00 sum=null'] });
const order = (math: string, day = 4) => trends(node('order', { math, math_property: 'sum' }), march(day, day));
const perPerson = history({ kim: ['order 4 09:00', 'order 4 10:00'], lou: ['order 4 09:00', 'order 4 10:00', 'order 4 11:00'] });
const firstShops = history({ zoe: ['buy 4 09:00 shop=a', 'buy 5 09:00 shop=b'] });
const merged = history({ a1: ['buy 4 09:00'], a2: ['buy 4 10:00'] });
const uniques = [1, 1, 2, 3, 3, 3, 4, 4, 4, 4];

export const maths: InsightCase[] = [
  row('insight-031', 'shows two series', 'visits', trends([seen, left]), series({ order: 0, count: 10 }, { order: 1, count: 6 })),
  row('insight-032', 'counts all events', 'visits', trends(node(null)), series({ label: 'All events', count: 16, action: { id: null } })),
  row('insight-033', 'shows zeros for an unknown event', 'visits', trends(node('never sent')), series({ count: 0, data: Array(11).fill(0) })),
  row('insight-034', 'shows no series for an unknown event with a breakdown', 'visits', trends(node('never sent'), { breakdownFilter: { breakdown: 'browser' } }), { results: [] }),
  row('insight-035', 'counts events', 'visits', trends(node('page seen', { math: 'total' })), data(...seenByDay)),
  row('insight-036', 'counts the persons of each day', 'visits', trends(node('page seen', { math: 'dau' })), series({ data: seenByDay, count: 10 })),
  row('insight-037', 'counts the persons of the range', 'visits', trends(node('page seen', { math: 'dau' }), display('BoldNumber')), series({ aggregated_value: 4, data: [], count: 0 })),
  row('insight-038', 'counts the persons of seven days', 'visits', trends(node('page seen', { math: 'weekly_active' }), march(7, 18)), data(...uniques, 2, 2)),
  row('insight-039', 'counts persons up to seven days before the range', 'visits', trends(node('page seen', { math: 'weekly_active' }), march(16, 17)), data(4, 2)),
  row('insight-040', 'counts the persons of thirty days', 'visits', trends(node('page seen', { math: 'monthly_active' }), march(7, 18)), data(...uniques, 4, 4)),
  row('insight-041', 'counts the persons of thirty days, by month', 'visits', trends(node('page seen', { math: 'monthly_active' }), { ...range('2024-02-29', '2024-04-01'), interval: 'month' }), data(0, 4, 0)),
  row('insight-042', 'sums a property', 'visits', trends(node('page seen', { math: 'sum', math_property: 'amount' }), march(7, 18)), data(20, 0, 10, 60, 10, 0, 50, 0, 10, 0, 10, 0)),
  row('insight-043', 'averages a property', 'visits', trends(node('page seen', { math: 'avg', math_property: 'amount' }), march(7, 18)), data(20, 0, 10, 20, 10, 0, 25, 0, 10, 0, 10, 0)),
  row('insight-044', 'averages only numbers and numeric text', orders, order('avg'), data(135.5 / 3)),
  row('insight-045', 'computes the median', orders, order('median'), data(25.5)),
  row('insight-045', 'computes the 75th percentile', orders, order('p75'), data(62.75)),
  row('insight-045', 'computes the 95th percentile', orders, order('p95'), data(92.55)),
  row('insight-045', 'computes the 99th percentile', orders, order('p99'), data(98.51)),
  ...['min', 'max', 'median', 'p90'].map((math) => row('insight-046', `shows zero as the ${math} of a day without orders`, orders, order(math, 5), data(0))),
  row('insight-047', 'rejects a sum without a property', 'visits', trends(node('page seen', { math: 'sum' })), badRequest('series.0.math_property')),
  row('insight-048', 'counts the groups of a type', history({ a: ['buy 4 09:00 $group_0=one'], b: ['buy 4 10:00 $group_0=one', 'buy 4 11:00 $group_0=two', 'buy 4 12:00'] }), trends(node('buy', { math: 'unique_group', math_group_type_index: 0 }), march(4, 4)), data(2)),
  row('insight-049', 'counts the sessions of each day', 'sessions', trends(node('view', { math: 'unique_session' }), march(4, 5)), data(3, 1)),
  row('insight-049', 'counts the sessions of the range', 'sessions', trends(node('view', { math: 'unique_session' }), { ...march(4, 5), ...display('BoldNumber') }), series({ aggregated_value: 3 })),
  row('insight-050', 'averages the number of events per person', perPerson, trends(node('order', { math: 'avg_count_per_actor' }), march(4, 5)), data(2.5, 0)),
  row('insight-050', 'shows the minimum number of events per person', perPerson, trends(node('order', { math: 'min_count_per_actor' }), march(4, 5)), data(2, 0)),
  row('insight-051', 'ignores persons whose first time was before the range', history({ zoe: ['buy 1', 'buy 5'] }), trends(node('buy', { math: 'first_time_for_user' }), march(4, 7)), data(0, 0, 0, 0)),
  row('insight-052', 'filters do not affect which time is the first', firstShops, trends(node('buy', { math: 'first_time_for_user', properties: [filter('shop', 'exact', 'b')] }), march(4, 7)), data(0, 0, 0, 0)),
  row('insight-053', 'breaks down the first time', firstShops, trends(node('buy', { math: 'first_time_for_user' }), { ...march(4, 7), breakdownFilter: { breakdown: 'shop' } }), series({ breakdown_value: 'a', data: [1, 0, 0, 0] })),
  row('insight-056', 'includes test accounts unless they are filtered', 'visits', trends(seen, { filterTestAccounts: false }), data(...seenByDay), { testAccountFilters: [filter('browser', 'is_not', 'Condor')] }),
  row('insight-057', 'shows cumulative sums', 'visits', trends(seen, display('ActionsLineGraphCumulative')), series({ data: [1, 1, 2, 5, 6, 6, 8, 8, 9, 9, 10], count: 10 })),
  row('insight-058', 'shows a moving average', 'visits', trends(seen, { trendsFilter: { smoothingIntervals: 3 } }), data(1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0)),
  row('insight-059', 'a total ignores the interval', 'visits', trends(seen, { ...display('BoldNumber'), interval: 'month' }), series({ aggregated_value: 10 })),
  row(
    'insight-060',
    'shows totals by value',
    'visits',
    trends(seen, { ...display('ActionsBarValue'), breakdownFilter: { breakdown: 'browser' } }),
    series(
      ...[
        ['Condor', 6],
        ['Falcon', 2],
        ['Eagle', 1],
        ['Sparrow', 1],
      ].map(([breakdown_value, aggregated_value]) => ({ breakdown_value, aggregated_value })),
    ),
  ),
  ...['ActionsTable', 'ActionsPie', 'WorldMap'].map((name) => row('insight-061', `${name} is a total`, 'visits', trends(seen, display(name)), series({ aggregated_value: 10, data: [], days: [], count: 0 }))),
  row('insight-063', 'rejects too many series', 'visits', trends(Array(27).fill(seen)), badRequest('series')),
  row('insight-064', 'rejects actions', 'visits', trends({ kind: 'ActionsNode', id: 1 }), badRequest('series.0')),
  row('insight-065', 'counts two persons before their merge', merged, trends(node('buy', { math: 'dau' }), march(4, 4)), data(2)),
  row('insight-065', 'counts one person after the merge, also in the past', merged, trends(node('buy', { math: 'dau' }), march(4, 4)), data(1), { merges: [['a1', 'a2']] }),
];

const formula = (text: string, more: object = {}) => trends([seen, left], { trendsFilter: { formula: text }, ...more });
const compared = { ...march(13, 17), compareFilter: { compare: true } };
const byBrowser = { breakdownFilter: { breakdown: 'browser' } };
const sum = [1, 0, 3, 5, 7, 0, 2, 2, 1, 0, 1];

export const formulas: InsightCase[] = [
  row('insight-066', 'computes a formula', 'visits', formula('A+2*B'), series({ label: 'Formula (A+2*B)', data: sum, count: 22, action: null })),
  row('insight-067', 'computes two formulas', 'visits', trends([seen, left], { trendsFilter: { formulas: ['A+2*B', 'A-B'] } }), series({ order: 0, data: sum }, { order: 1, data: [1, 0, 0, 2, -2, 0, 2, -1, 1, 0, 1], count: 4 })),
  row('insight-068', 'division by zero is 0', 'visits', trends([seen, left], { trendsFilter: { formulaNodes: [{ formula: 'B/A', custom_name: 'Leaving' }] } }), series({ label: 'Leaving', data: [0, 0, 1, 1 / 3, 3, 0, 0, 0, 0, 0, 0] })),
  row('insight-069', 'computes a power', 'visits', formula('A**2'), data(1, 0, 1, 9, 1, 0, 4, 0, 1, 0, 1)),
  ...['A^2', 'A+', 'import os', '__import__("os")', 'A.b', 'A[0]'].map((text) => row('insight-070', `rejects ${text} as a formula`, 'visits', formula(text), badRequest('formula'))),
  row('insight-070', 'rejects a formula with a letter that has no series', 'visits', trends(seen, { trendsFilter: { formula: 'A+B' } }), badRequest('formula')),
  row('insight-071', 'compares a formula with the period before', 'visits', formula('A+2*B', compared), series({ data: [2, 2, 1, 0, 1], count: 6, compare_label: 'current' }, { data: [0, 3, 5, 7, 0], count: 15, compare_label: 'previous' })),
  row('insight-072', 'compares a total of a formula with the period before', 'visits', formula('A+2*B', { ...compared, trendsFilter: { formula: 'A+2*B', display: 'BoldNumber' } }), series({ aggregated_value: 6 }, { aggregated_value: 15 })),
  row(
    'insight-073',
    'computes a formula by values that are missing in some series',
    'visits',
    trends([seen, node('page left', { properties: [filter('browser', 'exact', 'Eagle')] })], { ...byBrowser, trendsFilter: { formula: 'A+B' } }),
    series(
      ...[
        ['Condor', 6],
        ['Eagle', 2],
        ['Falcon', 2],
        ['Sparrow', 1],
      ].map(([breakdown_value, count]) => ({ breakdown_value, count })),
    ),
  ),
  row('insight-074', 'computes a formula by a missing property when one series is empty', 'visits', trends([seen, node('never sent')], { breakdownFilter: { breakdown: 'nothing' }, trendsFilter: { formula: 'A+2*B' } }), series({ breakdown_value: nullValue, data: seenByDay })),
  row('insight-075', 'compares with the period before', 'visits', trends(seen, compared), series({ compare: true, compare_label: 'current', data: [2, 0, 1, 0, 1] }, { compare: true, compare_label: 'previous', days: daysFrom('2024-03-08', 5), data: [0, 1, 3, 1, 0] })),
  row('insight-076', 'for the last seven days, the periods overlap by a day', 'visits', trends(seen, { ...range('-7d'), compareFilter: { compare: true } }), series({ days: daysFrom('2024-03-15', 8) }, { days: daysFrom('2024-03-08', 8) }), { now: '2024-03-22T12:00:00Z' }),
  row('insight-077', 'for the last three days, the periods do not overlap', 'visits', trends(seen, { ...range('-3d'), compareFilter: { compare: true } }), series({ days: daysFrom('2024-03-17', 4) }, { days: daysFrom('2024-03-13', 4) })),
  row('insight-078', 'compares with a week ago', 'visits', trends(seen, { ...march(13, 17), compareFilter: { compare: true, compare_to: '-1w' } }), series({ days: daysFrom('2024-03-13', 5) }, { days: daysFrom('2024-03-06', 5), data: [0, 1, 0, 1, 3] })),
  row('insight-079', 'compares with a month ago', 'visits', trends(seen, { ...range('2024-04-09', '2024-04-10'), compareFilter: { compare: true, compare_to: '-1m' } }), series({ data: [0, 0] }, { days: ['2024-03-09', '2024-03-10'], data: [1, 3] }), { now: '2024-04-20T12:00:00Z' }),
  row('insight-080', 'compares with a month ago on a day that the month does not have', 'visits', trends(seen, { ...march(31, 31), compareFilter: { compare: true, compare_to: '-1m' } }), series({ days: ['2024-03-31'] }, { days: ['2024-02-29'] }), { now: '2024-04-20T12:00:00Z' }),
  row('insight-081', 'compares all time with nothing', 'visits', trends(seen, { ...range('all'), compareFilter: { compare: true } }), series({ count: 10, compare_label: 'current' }, { count: 0, compare_label: 'previous' })),
];

const by = (breakdown: string, more: object = {}) => ({ breakdownFilter: { breakdown, breakdown_type: 'event', ...more } });
const values = (...pairs: [unknown, number][]) => pairs.map(([breakdown_value, count]) => ({ breakdown_value, count }));
const plans = history({ ...{ a: ['sale 4 12:00 plan=pro'], b: ['sale 4 12:00 plan=free'], c: ['sale 4 12:00 plan=7'], d: ['sale 4 12:00 plan=["x","y"]'] }, ...{ e: ['sale 4 12:00 plan=""'], f: ['sale 4 12:00 plan=null'], g: ['sale 4 12:00'] } });
const onFourth = march(4, 4);
const thirty = 'thirty-values';
/** Values of `page`, sorted as strings. Each value has one event. */
const pages = Array.from({ length: 30 }, (_, at) => String(at)).sort();
const byPage = (more: object = {}) => trends(seen, { ...march(7, 18), ...by('page', more) });
const twentyFive = history(Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`v${at}`, [`sale 4 12:00 page=p${at}`]])));
const sentinels = history({ a: [`sale 4 12:00 plan=${nullValue}`], b: ['sale 4 12:00'], c: ['sale 4 12:00 plan=pro'] });

export const breakdowns: InsightCase[] = [
  row('insight-082', 'sorts values by total, then by text', 'visits', trends(seen, { ...march(7, 18), ...by('browser') }), series(...values(['Condor', 6], ['Falcon', 2], ['Eagle', 1], ['Sparrow', 1]))),
  row(
    'insight-083',
    'ranks values separately in each series',
    'visits',
    trends([seen, left], by('browser')),
    series(
      ...[
        ['page seen', 'Condor', 6],
        ['page seen', 'Falcon', 2],
        ['page seen', 'Eagle', 1],
        ['page seen', 'Sparrow', 1],
        ['page left', 'Condor', 3],
        ['page left', 'Eagle', 1],
        ['page left', 'Falcon', 1],
        ['page left', 'Sparrow', 1],
      ].map(([event, value, count]) => ({ label: `${event} - ${value}`, count })),
    ),
  ),
  row('insight-084', 'ranks values by the sum', 'visits', trends(node('page seen', { math: 'sum', math_property: 'amount' }), by('browser')), series(...values(['Condor', 60], ['Falcon', 40], ['Sparrow', 40], ['Eagle', 30]))),
  row('insight-085', 'shows bins, of which the last includes its upper bound', 'visits', trends(seen, by('amount', { breakdown_histogram_bin_count: 4 })), series(...values(['[10,17.5]', 6], ['[17.5,25]', 2], ['[25,32.5]', 1], ['[32.5,40.01]', 1]))),
  row(
    'insight-086',
    'shows two breakdowns',
    'visits',
    trends(seen, {
      breakdownFilter: {
        breakdowns: [
          { property: 'browser', type: 'event' },
          { property: 'amount', type: 'event' },
        ],
      },
    }),
    series({ breakdown_value: ['Condor', '10'], label: 'Condor::10', count: 6 }, { count: 2 }, { count: 1 }, { count: 1 }),
  ),
  row('insight-087', 'breaks down by a person property', 'visits', trends(seen, by('email', { breakdown_type: 'person' })), series(...values(['ann@example.test', 6], [nullValue, 4]))),
  row('insight-088', 'values are text, and null, empty and missing are the same value', plans, trends(sale, { ...onFourth, ...by('plan') }), series(...values(['7', 1], ['["x","y"]', 1], ['free', 1], ['pro', 1], [nullValue, 3]))),
  row('insight-089', 'lists null after all other values', 'missing-values', trends(sale, { ...march(4, 5), ...by('plan') }), series(...values(['pro', 2], ['7', 1], ['["x","y"]', 1], ['free', 1], [nullValue, 4]))),
  row('insight-090', 'null can be among the others', 'missing-values', trends(sale, { ...march(4, 5), ...by('plan', { breakdown_limit: 4 }) }), series(...values(['pro', 2], ['7', 1], ['["x","y"]', 1], ['free', 1], [otherValue, 4]))),
  row(
    'insight-091',
    'null is ranked like other values in totals',
    'missing-values',
    trends(sale, { ...march(4, 5), ...by('plan', { breakdown_limit: 2 }), ...display('ActionsBarValue') }),
    series(
      ...[
        ['pro', 2],
        [nullValue, 4],
        [otherValue, 3],
      ].map(([breakdown_value, aggregated_value]) => ({ breakdown_value, aggregated_value })),
    ),
  ),
  row('insight-092', 'shows 25 values and the sum of the others', thirty, byPage(), { results: values(...pages.slice(0, 25).map((page): [string, number] => [page, 1]), [otherValue, 5]), hasMore: true }),
  row('insight-093', 'shows a limited number of values', thirty, byPage({ breakdown_limit: 10 }), { results: values(...pages.slice(0, 10).map((page): [string, number] => [page, 1]), [otherValue, 20]), hasMore: true }),
  row('insight-094', 'hides the sum of the others', thirty, byPage({ breakdown_limit: 10, breakdown_hide_other_aggregation: true }), { results: values(...pages.slice(0, 10).map((page): [string, number] => [page, 1])), hasMore: true }),
  row('insight-095', 'sorts values with equal totals by text', thirty, byPage({ breakdown_limit: 3 }), series(...values(['0', 1], ['1', 1], ['10', 1], [otherValue, 27]))),
  row('insight-096', 'values of a list with one breakdown are lists', thirty, trends(seen, { ...march(7, 18), breakdownFilter: { breakdowns: [{ property: 'page', type: 'event' }], breakdown_limit: 10 } }), series(...values(...pages.slice(0, 10).map((page): [string[], number] => [[page], 1]), [[otherValue], 20]))),
  row('insight-097', 'shows no others if there are no more values than the limit', twentyFive, trends(sale, { ...onFourth, ...by('page') }), { results: Array.from({ length: 25 }, () => ({ count: 1 })), hasMore: false }),
  row('insight-098', 'rejects four breakdowns', 'visits', trends(seen, { breakdownFilter: { breakdowns: ['a', 'b', 'c', 'd'].map((property) => ({ property, type: 'event' })) } }), badRequest('breakdowns')),
  row('insight-099', 'rejects a breakdown by cohort', 'visits', trends(seen, by('browser', { breakdown_type: 'cohort' })), badRequest('breakdown')),
  row('insight-100', 'a value that equals the text for no value counts as no value', sentinels, trends(sale, { ...onFourth, ...by('plan') }), series(...values(['pro', 1], [nullValue, 2]))),
  row('insight-102', 'filters by true and false', 'visits', trends(seen, by('paid')), series({ label: 'true', count: 7 }, { label: 'false', count: 3 })),
];

const passing = (...properties: object[]) => trends(sale, { ...onFourth, properties });
const pass = (count: number) => series({ count });
const sums = history({ a: ['sale 4 09:00 sum=2', 'sale 4 09:01 sum=5', 'sale 4 09:02 sum=10', 'sale 4 09:03 sum=11', 'sale 4 09:04 sum="12"', 'sale 4 09:05 sum="9"', 'sale 4 09:06 sum=many', 'sale 4 09:07'] });
const paid = history({ a: ['sale 4 09:00 paid=true', 'sale 4 09:01 paid=false', 'sale 4 09:02'] });
const ends = history({ a: ['sale 4 09:00 until=2024-03-09T23:00:00Z', 'sale 4 09:01 until=2024-03-10', 'sale 4 09:02 until=1709942400', 'sale 4 09:03 until=1710158400', 'sale 4 09:04 until=soon', 'sale 4 09:05 until=2024-03-09'] });
const aroundNow = history({ a: ['sale 4 09:00 until=2024-03-11T11:59:00Z', 'sale 4 09:01 until=2024-03-11T12:01:00Z'] });
const aroundDay = history({ a: ['sale 4 09:00 until=2024-03-11T03:00:00Z', 'sale 4 09:01 until=2024-03-10T04:00:00Z', 'sale 4 09:02 until=2024-03-10T05:00:00Z'] });
const nested = history({ a: ['sale 4 09:00 plan=pro sum=1', 'sale 4 09:01 plan=free sum=2', 'sale 4 09:02 plan=pro sum=3', 'sale 4 09:03 plan=basic sum=4'] });
const upgraded = { events: [{ event: 'sale', distinct_id: 'a', timestamp: '2024-03-04T09:00:00Z', properties: {}, person_properties: { plan: 'free' } }], persons: [person('a', '2024-03-04', { plan: 'pro' })] };
const names = ["it's", 'say "so"', 'a.b', '$lib', 'x'.repeat(200), 'größe 日本', 'a\\b', "'); DROP TABLE event; --"];
const specialNames = { events: names.map((name) => ({ event: 'sale', distinct_id: 'a', timestamp: '2024-03-04T09:00:00Z', properties: { [name]: 'yes' } })), persons: [] };
const firms = history(
  { a: ['sale 4 09:00 $group_0=one'], b: ['sale 4 10:00 $group_0=two', 'sale 4 11:00'] },
  {
    groups: [
      { type_index: 0, key: 'one', created_at: '2024-03-01T00:00:00Z', properties: { industry: 'finance' } },
      { type_index: 0, key: 'two', created_at: '2024-03-01T00:00:00Z', properties: { industry: 'food' } },
    ],
  },
);

export const filters: InsightCase[] = [
  row('insight-103', 'the empty text is set, and null is not', plans, passing(filter('plan', 'is_set')), pass(5)),
  row('insight-104', 'missing and null are not set', plans, passing(filter('plan', 'is_not_set')), pass(2)),
  row('insight-105', 'is_not matches a missing property', plans, passing(filter('plan', 'is_not', ['pro', 'free'])), pass(5)),
  row('insight-106', 'exact with a list matches one of its values', plans, passing(filter('plan', 'exact', ['pro', 'free'])), pass(2)),
  row('insight-107', 'a number equals its text', plans, passing(filter('plan', 'exact', '7')), pass(1)),
  row('insight-108', 'not_icontains matches a missing property', plans, passing(filter('plan', 'not_icontains', 'RE')), pass(6)),
  row('insight-109', 'regex matches a property', plans, passing(filter('plan', 'regex', '^(pro|free)$')), pass(2)),
  row('insight-109', 'not_regex matches a missing property', plans, passing(filter('plan', 'not_regex', '^p')), pass(6)),
  row('insight-111', 'gt compares numbers and numeric text', sums, passing(filter('sum', 'gt', 10)), pass(2)),
  row('insight-112', 'gte accepts a number as text', sums, passing(filter('sum', 'gte', '10')), pass(3)),
  row('insight-113', 'between includes both bounds', sums, passing(filter('sum', 'between', [2, 10])), pass(4)),
  row('insight-113', 'rejects between with bounds in the wrong order', sums, passing(filter('sum', 'between', [10, 2])), badRequest('properties.0.value')),
  ...[true, 'true', ['true']].map((value) => row('insight-114', `true equals ${JSON.stringify(value)}`, paid, passing(filter('paid', 'exact', value)), pass(1))),
  row('insight-115', 'matches times before a day', ends, passing(filter('until', 'is_date_before', '2024-03-10')), pass(3)),
  row('insight-116', 'matches times after a relative time', aroundNow, passing(filter('until', 'is_date_after', '-9d')), pass(1)),
  row('insight-117', 'matches times on a day in the time zone of the project', aroundDay, passing(filter('until', 'is_date_exact', '2024-03-10')), pass(2), { timezone: 'America/New_York' }),
  row('insight-118', 'a group without filters matches all events', plans, trends(sale, { ...onFourth, properties: { type: 'AND', values: [] } }), pass(7)),
  row('insight-119', 'filters can be nested', nested, trends(sale, { ...onFourth, properties: { type: 'AND', values: [{ type: 'OR', values: [filter('plan', 'exact', 'pro'), filter('plan', 'exact', 'free')] }, filter('sum', 'gt', 1)] } }), pass(2)),
  row('insight-120', 'filters of the series and of the query both apply', nested, trends(node('sale', { properties: [filter('plan', 'exact', 'pro')] }), { ...onFourth, properties: [filter('sum', 'gt', 1)] }), pass(1)),
  row('insight-121', 'filters by a group property', firms, passing({ key: 'industry', type: 'group', group_type_index: 0, operator: 'exact', value: 'finance' }), pass(1)),
  row('insight-124', 'filters by a current person property', upgraded, passing({ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }), pass(1)),
  row('insight-124', 'filters by a person property at ingestion', upgraded, passing({ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }), pass(0), { personMode: 'event' }),
  ...names.map((name) => row('insight-125', `filters by a property called ${name.slice(0, 30)}`, specialNames, passing(filter(name, 'exact', 'yes')), pass(1))),
];
