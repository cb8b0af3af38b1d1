// Rules that clients rely on and that have no case number. Each rule is one sentence.

import type { InsightCase } from '../case-world.ts';
import { actorsOf, badRequest, counts, days, daysFrom, display, events, filter, funnel, funnelActorsOf, history, left, march, node, nullValue, otherValue, person, range, retention, row, sale, seen, series, steps, tick, trends, visits } from './rows.ts';

const rule = (name: string, ...rest: [InsightCase['dataset'], unknown, unknown, Parameters<typeof row>[5]?]) => row('rule', name, ...rest);
const hoursFrom = (first: string, count: number) => Array.from({ length: count }, (_, at) => new Date(Date.parse(first) + at * 3_600_000).toISOString().slice(0, 19).replace('T', ' '));
const inMay = { now: '2024-05-15T14:30:00Z' };
const monday = { ...inMay, weekStart: 1 };
const empty = history({ ivy: ['tick 2024-05-01'] });
const rangeCase = (name: string, from: string, to: string | undefined, interval: string, names: string[], settings: { now: string; weekStart?: number } = inMay) => rule(`${from} to ${to ?? 'now'} by ${interval}: ${name}`, empty, trends(tick, { ...range(from, to), interval }), days(...names), settings);
const labels = (name: string, more: object, names: string[], settings = inMay) => rule(`labels: ${name}`, empty, trends(tick, more), series({ labels: names }), settings);
const against = (from: string, to: string | undefined, now: string[], before: string[], more: object = {}) => rule(`${from} to ${to ?? 'now'} compared`, empty, trends(tick, { ...range(from, to), compareFilter: { compare: true }, ...more }), series({ days: now }, { days: before }), inMay);

export const ranges: InsightCase[] = [
  rangeCase('shows eight days', '-7d', undefined, 'day', daysFrom('2024-05-08', 8)),
  rangeCase('shows 25 hours', '-24h', undefined, 'hour', hoursFrom('2024-05-14T14:00:00Z', 25)),
  rangeCase('ends with the current hour', 'dStart', undefined, 'hour', hoursFrom('2024-05-15T00:00:00Z', 15)),
  rangeCase('shows all hours of the day', '-1dStart', '-1dEnd', 'hour', hoursFrom('2024-05-14T00:00:00Z', 24)),
  rangeCase('shows one day', '-1dStart', '-1dEnd', 'day', ['2024-05-14']),
  rangeCase('weeks start on Sunday', '-30d', undefined, 'week', ['2024-04-14', '2024-04-21', '2024-04-28', '2024-05-05', '2024-05-12']),
  rangeCase('weeks start on Monday', '-30d', undefined, 'week', ['2024-04-15', '2024-04-22', '2024-04-29', '2024-05-06', '2024-05-13'], monday),
  rangeCase('shows last month', '-1mStart', '-1mEnd', 'day', daysFrom('2024-04-01', 30)),
  rangeCase('shows this month', 'mStart', undefined, 'day', daysFrom('2024-05-01', 15)),
  rangeCase('the current week starts on Sunday', 'wStart', undefined, 'day', daysFrom('2024-05-12', 4)),
  rangeCase('the current week starts on Monday', 'wStart', undefined, 'day', daysFrom('2024-05-13', 3), monday),
  rangeCase('the current week starts on Saturday', 'wStart', undefined, 'day', daysFrom('2024-05-11', 5), { ...inMay, weekStart: 6 }),
  rangeCase('shows last week', '-1wStart', '-1wEnd', 'day', daysFrom('2024-05-05', 7)),
  rangeCase('last week starts on Thursday', '-1wStart', '-1wEnd', 'day', daysFrom('2024-05-02', 7), { ...inMay, weekStart: 4 }),
  rangeCase('weeks start on Wednesday', '-15d', undefined, 'week', ['2024-04-24', '2024-05-01', '2024-05-08', '2024-05-15'], { ...inMay, weekStart: 3 }),
  rangeCase('shows this quarter', 'qStart', undefined, 'day', daysFrom('2024-04-01', 45)),
  rangeCase('shows last quarter', '-1qStart', '-1qEnd', 'month', ['2024-01-01', '2024-02-01', '2024-03-01']),
  rangeCase('shows complete months', '-90d', undefined, 'month', ['2024-02-01', '2024-03-01', '2024-04-01', '2024-05-01']),
  rangeCase('shows this year', 'yStart', undefined, 'month', ['2024-01-01', '2024-02-01', '2024-03-01', '2024-04-01', '2024-05-01']),
  rangeCase(
    'shows last year completely',
    '-1yStart',
    '-1yEnd',
    'month',
    Array.from({ length: 12 }, (_, at) => `2023-${String(at + 1).padStart(2, '0')}-01`),
  ),
  rangeCase('shows thirteen weeks', '-1q', undefined, 'week', ['2024-02-11', '2024-02-18', '2024-02-25', '2024-03-03', '2024-03-10', '2024-03-17', '2024-03-24', '2024-03-31', '2024-04-07', '2024-04-14', '2024-04-21', '2024-04-28', '2024-05-05', '2024-05-12']),
  rangeCase('shows two weeks', '-2w', undefined, 'day', daysFrom('2024-05-01', 15)),
  rangeCase('starts a month ago', '-1m', undefined, 'week', ['2024-04-14', '2024-04-21', '2024-04-28', '2024-05-05', '2024-05-12']),
  rangeCase('a minus sign is optional', '7d', undefined, 'day', daysFrom('2024-05-08', 8)),
  rangeCase('dates may lack leading zeros', '2024-1-5', '2024-1-7', 'day', daysFrom('2024-01-05', 3)),
  rangeCase('shows an hour completely', '-1hStart', '-1hEnd', 'hour', ['2024-05-15 13:00:00']),
  ...['+3d', 'x-7d', '-7d later', 'today', '2024-13-01', '-7x'].map((date_from) => rule(`rejects "${date_from}" as a date`, empty, trends(tick, { dateRange: { date_from } }), badRequest('date_from'), inMay)),
  labels('days', range('2024-05-13', '2024-05-14'), ['13-May-2024', '14-May-2024']),
  labels('hours', { ...range('2024-05-13', '2024-05-13T01:30:00'), interval: 'hour' }, ['13-May 00:00', '13-May 01:00']),
  labels('weeks', { ...range('2024-05-05', '2024-05-18'), interval: 'week' }, ['5–11 May', '12–18 May']),
  labels('weeks over two months', { ...range('2024-04-29', '2024-05-05'), interval: 'week' }, ['29-Apr – 5-May'], monday),
  labels('months', { ...range('2024-04-01', '2024-05-15'), interval: 'month' }, ['Apr 2024', 'May 2024']),
  against('-7d', undefined, daysFrom('2024-05-08', 8), daysFrom('2024-05-01', 8)),
  against('-3d', undefined, daysFrom('2024-05-12', 4), daysFrom('2024-05-08', 4)),
  against('2024-05-06', '2024-05-10', daysFrom('2024-05-06', 5), daysFrom('2024-05-01', 5)),
  against('mStart', undefined, daysFrom('2024-05-01', 15), daysFrom('2024-04-01', 15)),
  against('wStart', undefined, daysFrom('2024-05-12', 4), daysFrom('2024-05-05', 4)),
  against('qStart', undefined, daysFrom('2024-04-01', 45), daysFrom('2024-01-01', 46)),
  against('-1mStart', '-1mEnd', daysFrom('2024-04-01', 30), daysFrom('2024-03-02', 30)),
  rule('compares a month to date on a day that does not exist in the month before', empty, trends(tick, { ...range('mStart'), compareFilter: { compare: true } }), series({ days: daysFrom('2024-03-01', 31) }, { days: daysFrom('2024-02-01', 29) }), { now: '2024-03-31T12:00:00Z' }),
  against('-24h', undefined, hoursFrom('2024-05-14T14:00:00Z', 25), hoursFrom('2024-05-13T14:00:00Z', 25), { interval: 'hour' }),
];

/** Creates a case for a display field, which Millrace accepts but which does not change the result. */
const drawn = (name: string, query: unknown, expected: unknown) => rule(`ignores fields for drawing ${name}`, history({ p: ['A 4 10:00', 'B 4 11:00'] }), query, expected);
export const drawing: InsightCase[] = [
  drawn('a trend', trends(node('A'), { ...march(4, 4), trendsFilter: { legendPosition: 'right', hideWeekends: true, showAnnotations: false, showTrendLines: true } }), series({ data: [1] })),
  drawn('a funnel', funnel(['A', 'B'], { display: 'FunnelsBar', breakdownSorting: '-count', legendPosition: 'top', hideWeekends: true, yAxisScaleType: 'log10', decimalPlaces: 1 }, { compareFilter: { compare: false } }), steps(1, 1)),
];

const weekly = node('page seen', { math: 'weekly_active' });
const monthly = node('page seen', { math: 'monthly_active' });
const formula = (text: string, more: object = {}) => trends([seen, left], { trendsFilter: { formula: text, ...more } });
/**
 * From the 7th to the 17th, "page seen" happens 1, 0, 1, 3, 1, 0, 2, 0, 1, 0 and 1 times, and "page left" 0, 0, 1, 1,
 * 3, 0, 0, 1, 0, 0 and 0 times.
 */
const ofFormula = (text: string, ...data: number[]) => rule(`${text}`, 'visits', formula(text), series({ data }));
const sessions = history({ a: ['page-seen 4 09:00 $session_id=s1', 'page-seen 4 10:00', 'page-seen 4 11:00 $session_id='] });

export const numbers: InsightCase[] = [
  rule('weekly_active by week shows the persons of each week', 'visits', trends(weekly, { ...march(3, 16), interval: 'week' }), series({ data: [2, 4] })),
  rule('weekly_active by hour includes the 168 hours before', 'visits', trends(weekly, { ...range('2024-03-17T11:00:00', '2024-03-17T13:00:00'), interval: 'hour' }), series({ data: [4, 2, 2] })),
  rule('weekly_active as a total includes the last seven days', 'visits', trends(weekly, { ...march(1, 17), ...display('BoldNumber') }), series({ aggregated_value: 2 })),
  rule('monthly_active as a total includes the last thirty days', 'visits', trends(monthly, { ...march(17, 17), ...display('BoldNumber') }), series({ aggregated_value: 4 })),
  rule('monthly_active by week includes the thirty days up to the first day of the week', 'visits', trends(monthly, { ...march(3, 16), interval: 'week' }), series({ data: [0, 3] })),
  rule('a cumulative chart counts each person once', 'visits', trends(node('page seen', { math: 'dau' }), display('ActionsLineGraphCumulative')), series({ data: [1, 1, 2, 3, 3, 3, 4, 4, 4, 4, 4], count: 4 })),
  rule('an empty session ID does not count as a session', sessions, trends(node('page-seen', { math: 'unique_session' }), march(4, 4)), series({ data: [1] })),
  rule('a total has no labels', 'visits', trends(seen, display('ActionsPie')), series({ aggregated_value: 10, labels: undefined })),
  rule('multiplies a sum', 'visits', trends(node('page seen', { math: 'sum', math_property: 'amount', math_multiplier: 0.5 }), march(9, 10)), series({ data: [5, 30] })),
  ofFormula('a+b', 1, 0, 2, 4, 4, 0, 2, 1, 1, 0, 1),
  ofFormula('-A', -1, 0, -1, -3, -1, 0, -2, 0, -1, 0, -1),
  ofFormula('A % B', 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
  ofFormula('A/0', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
  ofFormula('(A + B) * 2 - 1', 1, -1, 3, 7, 7, -1, 3, 1, 1, -1, 1),
  ofFormula('2**3**0', 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2),
  rule('formulaNodes take precedence over formulas, which take precedence over formula', 'visits', trends([seen, left], { trendsFilter: { formula: 'A', formulas: ['B'], formulaNodes: [{ formula: 'A+B' }] } }), series({ label: 'Formula (A+B)', count: 16 })),
  rule('computes a formula of totals', 'visits', trends([seen, left], { trendsFilter: { formula: 'A/B', display: 'BoldNumber' } }), series({ aggregated_value: 10 / 6, count: 0 })),
  ...['max(A)', '(A', 'A)', 'A B', 'A++', 'AA', 'A // B'].map((text) => rule(`rejects ${text} as a formula`, 'visits', formula(text), badRequest('formula'))),
];

const passing = (...properties: object[]) => trends(sale, { ...march(4, 4), properties });
const plans = history({ a: ['sale 4 09:00 plan=pro', 'sale 4 09:01 plan=free', 'sale 4 09:02 plan=50%', 'sale 4 09:03 plan=["x","y"]', 'sale 4 09:04'] });
const versions = history({ a: ['1.2.3', '1.2.10', '1.3.0', '2.0.0', '2.0.0-beta'].map((version, at) => `sale 4 09:0${at} version="${version}"`) });
const sums = history({ a: ['sale 4 09:00 sum=1', 'sale 4 09:01 sum=5', 'sale 4 09:02 sum="7"', 'sale 4 09:03 sum=many', 'sale 4 09:04'] });
const passes = (name: string, data: InsightCase['dataset'], given: object, count: number) => rule(name, data, passing(given), series({ count }));

export const filters: InsightCase[] = [
  passes('icontains with a list matches any of its values', plans, filter('plan', 'icontains', ['PR', 'fr']), 2),
  passes('not_icontains with a list matches none of its values', plans, filter('plan', 'not_icontains', ['PR', 'fr']), 3),
  passes('icontains reads % as a plain character', plans, filter('plan', 'icontains', '0%'), 1),
  passes('icontains reads _ as a plain character', plans, filter('plan', 'icontains', 'p_o'), 0),
  passes('icontains searches the text of a list', plans, filter('plan', 'icontains', '"Y"'), 1),
  passes('a list equals its JSON text', plans, filter('plan', 'exact', '["x","y"]'), 1),
  passes('in matches one of a list', plans, filter('plan', 'in', ['pro', 'free']), 2),
  passes('not_in matches a missing property', plans, filter('plan', 'not_in', ['pro', 'free']), 3),
  passes('exact is case-sensitive', plans, filter('plan', 'exact', 'PRO'), 0),
  passes('regex is case-sensitive', plans, filter('plan', 'regex', 'PRO'), 0),
  passes('regex matches anywhere in the text', plans, filter('plan', 'regex', 'r'), 2),
  passes('icontains_multi matches any of its values', plans, filter('plan', 'icontains_multi', ['PR', 'fr']), 2),
  passes('not_icontains_multi matches none of its values', plans, filter('plan', 'not_icontains_multi', ['PR', 'fr']), 3),
  passes('min is another name of gte', sums, filter('sum', 'min', 5), 2),
  passes('max is another name of lte', sums, filter('sum', 'max', 5), 2),
  passes('gt with a list compares with any of its values', sums, filter('sum', 'gt', [6, 100]), 1),
  passes('not_between does not match a missing property', sums, filter('sum', 'not_between', [2, 6]), 2),
  passes('5.0 equals 5', sums, filter('sum', 'exact', '5.0'), 1),
  passes('the text 05 does not equal the number 5', sums, filter('sum', 'exact', ['05', '00', '-05']), 0),
  passes('semver_eq matches an equal version', versions, filter('version', 'semver_eq', '1.2.3'), 1),
  passes('semver_gt compares numbers, not text', versions, filter('version', 'semver_gt', '1.2.3'), 4),
  passes('semver_lt matches a pre-release of the version', versions, filter('version', 'semver_lt', '2.0.0'), 4),
  passes('semver_tilde matches the same minor version', versions, filter('version', 'semver_tilde', '1.2.3'), 2),
  passes('semver_caret matches the same major version', versions, filter('version', 'semver_caret', '1.2.3'), 3),
  passes('semver_wildcard matches any patch version', versions, filter('version', 'semver_wildcard', '1.2.*'), 2),
  passes('an empty filter matches all events', plans, {}, 5),
  passes('a filter of type empty matches all events', plans, { type: 'empty' }, 5),
  rule('rejects a filter without a value', plans, passing({ key: 'plan', type: 'event', operator: 'exact' }), badRequest('properties.0')),
  rule('rejects between with three values', sums, passing(filter('sum', 'between', [1, 2, 3])), badRequest('properties.0.value')),
  rule('rejects between with words', sums, passing(filter('sum', 'between', ['one', 'two'])), badRequest('properties.0.value')),
  rule('rejects a group filter without a type index', plans, passing({ key: 'x', type: 'group', operator: 'exact', value: 'y' }), badRequest('group_type_index')),
  ...['session', 'feature', 'recording', 'log_entry', 'data_warehouse', 'behavioral', 'flag', 'nonsense'].map((type) => rule(`rejects filters of type ${type}`, plans, passing({ key: 'x', type, operator: 'exact', value: 'y' }), badRequest('properties.0.type'))),
  passes('filters an event without a person by distinct ID', history({ a: ['sale 4 09:00 $process_person_profile=false'], b: ['sale 4 10:00'] }), { key: 'distinct_id', type: 'person', operator: 'exact', value: 'a' }, 1),
  passes('is_not excludes persons with the distinct ID', history({ a: ['sale 4 09:00'], b: ['sale 4 10:00'] }, { persons: [{ ...person('a', '2024-03-04'), distinct_ids: ['a', 'other'] }] }), { key: 'distinct_id', type: 'person', operator: 'is_not', value: 'other' }, 1),
  passes('matches any distinct ID of a person', history({ a: ['sale 4 09:00'], b: ['sale 4 10:00'] }, { persons: [{ ...person('a', '2024-03-04'), distinct_ids: ['a', 'other'] }] }), { key: 'distinct_id', type: 'person', operator: 'exact', value: 'other' }, 1),
];

const by = (breakdownFilter: object) => ({ ...march(4, 4), breakdownFilter });
const values = (...pairs: [unknown, number][]) => series(...pairs.map(([breakdown_value, count]) => ({ breakdown_value, count })));
const flags = { ...history({ a: ['sale 4 09:00 paid=true', 'sale 4 09:01 paid=1', 'sale 4 09:02 paid="1"', 'sale 4 09:03 paid=0', 'sale 4 09:04 paid=2', 'sale 4 09:05'] }), booleans: ['paid'] };
const addresses = history({ a: ['sale 4 09:00 url=/a', 'sale 4 09:01 url=/a/', 'sale 4 09:02 url=/a?', 'sale 4 09:03 url=/', 'sale 4 09:04 url=#', 'sale 4 09:05 url='] });
const several = history({ a: ['sale 4 09:00 plan=x', 'sale 4 10:00 plan=y', 'sale 4 11:00 plan=z'], b: ['sale 4 09:00 plan=x', 'sale 4 09:01 plan=x', 'sale 4 10:00 plan=y', 'sale 4 11:00 plan=z'] });
const inGroups = history({ a: ['sale 4 09:00 $group_0=one', 'sale 4 10:00'] }, { groups: [{ type_index: 0, key: 'one', created_at: '2024-03-01T00:00:00Z', properties: { size: 5 } }] });
const manyPages = Array.from({ length: 30 }, (_, at): [string, number] => [String(at), 1]).sort();

export const breakdowns: InsightCase[] = [
  rule('1 and 0 in a Boolean property count as true and false', flags, trends(sale, by({ breakdown: 'paid' })), values(['true', 3], ['2', 1], ['false', 1], [nullValue, 1])),
  rule('1 and 0 in a numeric property are numbers', { ...flags, booleans: [] }, trends(sale, by({ breakdown: 'paid' })), values(['1', 2], ['0', 1], ['2', 1], ['true', 1], [nullValue, 1])),
  rule('lists the persons with the value true', flags, actorsOf(trends(sale, by({ breakdown: 'paid' })), { day: '2024-03-04', breakdown: 'true' }), { actors: ['a'] }),
  row('insight-101', 'normalizes URLs by removing trailing slashes, question marks and hashes', addresses, trends(sale, by({ breakdown: 'url', breakdown_normalize_url: true })), values(['/a', 3], ['/', 2], [nullValue, 1])),
  rule('a list of breakdowns takes precedence over a single one', flags, trends(sale, by({ breakdown: 'nothing', breakdowns: [{ property: 'paid', type: 'event' }] })), values([['true'], 3], [['2'], 1], [['false'], 1], [[nullValue], 1])),
  rule('a person with several values counts in each, and the value for others is their sum', several, trends(node('sale', { math: 'dau' }), by({ breakdown: 'plan', breakdown_limit: 1 })), values(['x', 2], [otherValue, 4])),
  rule('an event without the group has no value', inGroups, trends(sale, by({ breakdown: 'size', breakdown_type: 'group', breakdown_group_type_index: 0 })), values(['5', 1], [nullValue, 1])),
  rule('a map shows 250 values', 'thirty-values', trends(seen, { ...march(7, 18), breakdownFilter: { breakdown: 'page' }, ...display('WorldMap') }), { results: manyPages.map(([breakdown_value, aggregated_value]) => ({ breakdown_value, aggregated_value })), hasMore: false }),
  rule('values that are not numbers have no bin', flags, trends(sale, by({ breakdown: 'paid', breakdown_histogram_bin_count: 2 })), values(['[1,2.01]', 3], ['[0,1]', 1], [nullValue, 2])),
];

const noSales = history({});
const windowOf = (funnelWindowInterval: number, funnelWindowIntervalUnit: string) => ({ funnelWindowInterval, funnelWindowIntervalUnit });
const ab = ['A', 'B'];
const exclusion = (event: string, from: number, to: number) => ({ exclusions: [node(event, { funnelFromStep: from, funnelToStep: to })] });
const wrong = (name: string, sentence: string, funnelsFilter: object, of: (string | object | null)[] = ['A', 'B', 'C']) => rule(name, noSales, funnel(of, funnelsFilter), badRequest(sentence));
const times = history({ p: ['A 4 10:00:00', 'B 4 10:00:10'], q: ['A 4 10:00:00', 'B 4 10:00:20'], r: ['A 4 10:00:00', 'B 4 10:00:40'] });

export const walks: InsightCase[] = [
  wrong('rejects a first step that does not exist', 'funnelFromStep is out of bounds. It must be between 0 and 1.', { funnelFromStep: 2, funnelToStep: 2 }),
  wrong('rejects a last step that does not exist', 'funnelToStep is out of bounds. It must be between 1 and 2.', { funnelFromStep: 0, funnelToStep: 3 }),
  wrong('rejects a last step that is not after the first step', 'Funnel step range is invalid. funnelToStep should be greater than funnelFromStep.', { funnelFromStep: 1, funnelToStep: 1 }),
  wrong('rejects an exclusion between no steps', 'Exclusion event range is invalid. End of range should be greater than start.', exclusion('X', 1, 1)),
  wrong('rejects an exclusion that starts after the last step', 'Exclusion event range is invalid. Start of range is greater than number of steps.', exclusion('X', 2, 3)),
  wrong('rejects an exclusion that ends after the last step', 'Exclusion event range is invalid. End of range is greater than number of steps.', exclusion('X', 0, 3)),
  wrong('rejects an exclusion of an event that is a step', "Exclusion steps cannot contain an event that's part of funnel steps.", exclusion('B', 0, 2)),
  wrong('rejects an exclusion from a part of an unordered funnel', 'Partial Exclusions not allowed in unordered funnels', { ...exclusion('X', 0, 1), funnelOrderType: 'unordered' }),
  wrong('rejects an optional first step', 'The first step of a funnel cannot be optional.', {}, [node('A', { optionalInFunnel: true }), 'B']),
  rule('the default window is fourteen days', history({ p: ['A 1 10:00', 'B 15 10:00'], q: ['A 1 10:00', 'B 15 10:01'] }), funnel(ab), steps(2, 1)),
  rule('a month in a window has thirty days', history({ p: ['A 1 10:00', 'B 31 10:00'], q: ['A 1 10:00', 'B 31 10:01'] }), funnel(ab, windowOf(1, 'month')), steps(2, 1)),
  rule('the window can be in weeks', history({ p: ['A 1 10:00', 'B 8 10:00'], q: ['A 1 10:00', 'B 8 10:01'] }), funnel(ab, windowOf(1, 'week')), steps(2, 1)),
  rule('the window can be in minutes', history({ p: ['A 1 10:00:00', 'B 1 10:05:00'], q: ['A 1 10:00:00', 'B 1 10:05:01'] }), funnel(ab, windowOf(5, 'minute')), steps(2, 1)),
  rule('shows conversion times in the requested number of bins', times, funnel(ab, { funnelVizType: 'time_to_convert', binCount: 3 }), {
    results: {
      bins: [
        [10, 1],
        [20, 1],
        [30, 0],
        [40, 1],
      ],
      average_conversion_time: 70 / 3,
    },
  }),
  rule(
    'unordered: after an excluded event, the person starts again',
    history({ p: ['A 4 10:00', 'B 4 10:10', 'X 4 10:20', 'C 4 10:30'], q: ['A 4 10:00', 'B 4 10:10', 'C 4 10:20'] }),
    funnel([...ab, 'C'], { funnelOrderType: 'unordered', ...exclusion('X', 0, 2), funnelWindowInterval: 6, funnelWindowIntervalUnit: 'hour' }),
    steps(2, 1, 1),
  ),
  rule('unordered: an excluded event between two steps makes the person start again', history({ p: ['A 4 10:00', 'X 4 11:00', 'B 4 12:00'], q: ['B 4 10:00', 'A 4 11:00'] }), funnel(ab, { funnelOrderType: 'unordered', ...exclusion('X', 0, 1) }), steps(2, 1)),
  rule('strict: a filter of the query hides events in between', history({ p: ['A 4 10:00 k=1', 'X 4 11:00 k=2', 'B 4 12:00 k=1'] }), funnel(ab, { funnelOrderType: 'strict' }, { properties: [filter('k', 'exact', 1)] }), steps(1, 1)),
  rule('a step can require the first time of the person', history({ p: ['A 1 10:00', 'A 4 10:00', 'B 5 10:00'], q: ['A 4 10:00', 'B 5 10:00'] }), funnel([node('A', { math: 'first_time_for_user' }), 'B'], {}, march(3, 10)), steps(1, 1)),
  row('insight-168', 'the events of different persons in a group convert the group', history({ p: ['A 4 10:00 $group_0=one'], q: ['B 4 11:00 $group_0=one', 'A 4 12:00'] }), funnel(ab, {}, { aggregation_group_type_index: 0 }), steps(1, 1)),
  rule('custom steps select persons by their furthest step', history({ p: ['A 4 10:00'], q: ['A 4 10:00', 'B 4 11:00'], r: ['A 4 10:00', 'B 4 11:00', 'C 4 12:00'] }), funnelActorsOf(funnel(['A', 'B', 'C']), { funnelCustomSteps: [1, 3], funnelStep: 2 }), { actors: ['p', 'r'] }),
  rule('shows retention by hour', history({ p: ['visit 2024-07-16 16:10', 'visit 2024-07-16 17:50'] }), retention({ totalIntervals: 3, ...visits, period: 'Hour' }), { results: [{ ...counts(1, 1, 0), label: 'Hour 0' }, counts(1, 0, 0), counts(0, 0, 0)] }, { now: '2024-07-16T18:30:00Z' }),
  rule('shows retention of all events', history({ p: ['visit 2024-07-15', 'other 2024-07-16'] }), retention({ totalIntervals: 2, targetEntity: { id: null, type: 'events' }, returningEntity: { id: null, type: 'events' } }), { results: [counts(1, 1), counts(1, 0)] }, { now: '2024-07-16T18:30:00Z' }),
];

const who = history({ ann: ['seen 4 09:00', 'seen 4 10:00'], bob: ['seen 4 09:00'], cid: ['seen 3 09:00'] }, { persons: [person('ann', '2024-03-02', { email: 'ann@example.test' }), person('bob', '2024-03-03', { name: 'Bob' }), person('cid', '2024-03-01')] });
const behind = (more: object = {}, of: object = trends(node('seen'), march(4, 4))) => ({ ...actorsOf(of, { day: '2024-03-04' }), ...more });
const listed = history({ p: ['seen 20 09:00 n=1', 'seen 20 10:00 n="2"', 'seen 20 11:00 n=[3]', 'seen 20 11:30'] });

export const lists: InsightCase[] = [
  rule('finds actors by their properties', who, behind({ search: 'EXAMPLE' }), { actors: ['ann'] }),
  rule('sorts actors by number of events', who, behind({ select: ['event_count'], orderBy: ['event_count DESC'] }), { columns: ['event_count'], results: [[2], [1]] }),
  rule('lists all actors for the value of others', who, behind({}, trends(node('seen'), { ...march(4, 4), breakdownFilter: { breakdown: 'x' } })), { actors: ['ann', 'bob'] }),
  rule('rejects a source without a day', who, { kind: 'ActorsQuery', source: { kind: 'InsightActorsQuery', source: trends(node('seen'), march(4, 4)) } }, badRequest('day')),
  rule('returns a property as it was sent', listed, events(['properties.n'], { orderBy: ['timestamp'] }), { results: [[1], ['2'], [[3]], [null]] }),
  rule('names a column by its label', listed, events(['event -- What', 'count()']), { columns: ['event -- What', 'count()'], results: [['seen', 4]] }),
  rule('selects all columns by default', listed, events([], { limit: 1 }), { columns: ['*'] }),
  rule('sorts by a column in ascending order', listed, events(['timestamp'], { orderBy: ['timestamp ASC'], limit: 1 }), { results: [['2024-03-20T09:00:00Z']], hasMore: true }),
  rule('rejects a limit that is too large', listed, events(['event'], { limit: 50_001 }), badRequest('limit')),
  rule('rejects SQL expressions without a parser', plans, passing({ type: 'hogql', key: '1 = 1' }), badRequest('properties.0.key: SQL expressions cannot run here.')),
  rule('rejects SQL without a parser', listed, { kind: 'HogQLQuery', query: 'select 1' }, badRequest('SQL queries cannot run here')),
];
