// Cases insight-127 to insight-210: funnels, retention, lifecycle, lists of actors, and events.

import type { InsightCase } from '../case-world.ts';
import { actorsOf, badRequest, counts, display, events, filter, funnel, funnelActorsOf, history, lifecycle, march, node, nullValue, person, range, retention, row, seen, steps, trends, visits } from './rows.ts';

const three = history({ p1: ['A 4 12:00', 'B 4 13:00', 'C 4 15:00'], p2: ['A 4 14:00', 'B 4 16:00'], p3: ['A 4 14:00', 'B 4 16:00', 'C 4 17:00'] });
const five = history({ p1: ['A 4 10:00', 'B 4 11:00', 'C 4 12:00'], p2: ['B 4 10:00', 'A 4 11:00', 'C 4 12:00'], p3: ['C 4 10:00'], p4: ['A 4 10:00', 'noise 4 11:00', 'B 4 12:00', 'C 4 13:00'], p5: ['A 4 10:00', 'A 4 11:00', 'B 4 12:00', 'B 4 13:00', 'C 4 14:00'] });
const one = (...did: string[]) => history({ p: did });
const ab = ['A', 'B'];
const abc = ['A', 'B', 'C'];
const days = (count: number) => ({ funnelWindowInterval: count, funnelWindowIntervalUnit: 'day' });
const without = (from: number, to: number, more: object = {}) => ({ exclusions: [node('gave-up', { funnelFromStep: from, funnelToStep: to, ...more })] });
const times = (...seconds: (number | null)[]) => ({ results: seconds.map((average_conversion_time) => ({ average_conversion_time })) });
const changeOfClock = one('A 10 08:00', 'B 10 12:00');
const byValue = (...results: [string[], ...number[]][]) => ({ results: results.map(([breakdown_value, ...of]) => of.map((count) => ({ breakdown_value, count }))) });
const broken = (breakdown: unknown, funnelsFilter: object = {}) => funnel(ab, funnelsFilter, { breakdownFilter: { breakdown, breakdown_type: 'event' } });
const condorThenSparrow = one('A 4 10:00 browser=Condor', 'B 4 11:00 browser=Sparrow');
const browsers = Array.from({ length: 30 }, (_, at) => `b${String(at).padStart(2, '0')}`);
/** The first 25 browsers have two persons each, and all other browsers have one person each. */
const manyBrowsers = history(Object.fromEntries(browsers.flatMap((browser, at) => (at < 25 ? ['x', 'y'] : ['x']).map((who) => [`${who}${at}`, [`A 4 10:00 browser=${browser}`]]))));
const conversions = history({ p1: ['A 4 10:00', 'B 4 11:00'], p2: ['A 4 10:00', 'B 4 10:37'], p3: ['A 4 10:00', 'B 5 09:00'] });
const toConvert = { funnelVizType: 'time_to_convert', ...days(7) };
const together = history({ p1: ['A 1 10:00', 'B 1 11:00'], p2: ['A 1 10:00', 'B 3 11:00'], p3: ['A 1 10:00', 'B 4 11:00'] });
const twice = one('A 4 10:00', 'A 5 10:00', 'B 6 10:00');
const trendOf = (funnelsFilter: object, more: object) => funnel(ab, { funnelVizType: 'trends', ...funnelsFilter }, more);

export const funnels: InsightCase[] = [
  row('insight-127', 'returns the number of persons and their conversion times', three, funnel(abc), {
    results: [
      { count: 3, average_conversion_time: null, median_conversion_time: null },
      { count: 3, average_conversion_time: 6000, median_conversion_time: 7200 },
      { count: 2, average_conversion_time: 5400, median_conversion_time: 5400 },
    ],
  }),
  row('insight-128', 'ordered: other events in between are allowed', five, funnel(abc), steps(4, 3, 3)),
  row('insight-129', 'strict: other events in between are not allowed, but a repeated step is', five, funnel(abc, { funnelOrderType: 'strict' }), steps(4, 2, 2)),
  row('insight-130', 'unordered: steps can happen in any order', five, funnel(abc, { funnelOrderType: 'unordered' }), {
    results: [
      { name: 'Completed 1 step', count: 5 },
      { name: 'Completed 2 steps', count: 4 },
      { name: 'Completed 3 steps', count: 4 },
    ],
  }),
  row('insight-131', 'conversion time starts with the latest first step', one('A 4 01:00', 'A 4 02:00', 'B 4 05:00'), funnel(ab), times(null, 10_800)),
  row('insight-132', 'conversion time ends with the earliest second step', one('A 4 04:00', 'B 4 05:00', 'B 4 07:00', 'C 4 08:00'), funnel(abc), times(null, 3600, 10_800)),
  row('insight-133', 'a step after the window does not count', one('A 1 10:00', 'B 10 10:00'), funnel(ab, days(7)), steps(1, 0)),
  row('insight-134', 'a step at the end of the window counts', one('A 1 10:00', 'B 8 10:00'), funnel(ab, days(7)), steps(1, 1)),
  row('insight-135', 'the window starts with the first step', one('A 1 10:00', 'B 6 10:00', 'C 10 10:00'), funnel(abc, days(7)), steps(1, 1, 0)),
  row('insight-136', 'the window can be 15 seconds', history({ p: ['A 4 10:00:00', 'B 4 10:00:10'], q: ['A 4 10:00:00', 'B 4 10:00:20'] }), funnel(ab, { funnelWindowInterval: 15, funnelWindowIntervalUnit: 'second' }), steps(2, 1)),
  row('insight-137', 'an event after the range does not count', one('A 5', 'B 6'), funnel(ab, {}, march(1, 5)), steps(1, 0)),
  row('insight-138', 'an event before the range does not count', one('A 4', 'B 6'), funnel(ab, {}, march(5, 10)), steps(0, 0)),
  row('insight-139', 'later incomplete attempts do not replace a complete one', one('A 4 10:00', 'B 4 11:00', 'C 4 12:00', 'A 6 10:00', 'B 6 15:00'), funnel(abc, days(1)), { results: [{ count: 1 }, { count: 1, average_conversion_time: 3600 }, { count: 1, average_conversion_time: 3600 }] }),
  row('insight-140', 'a person with an excluded event between steps does not count in any step', one('A 4 10:00', 'gave-up 4 11:00', 'B 4 12:00'), funnel(ab, without(0, 1)), steps(0, 0)),
  row('insight-141', 'a person with an excluded event after the first step does not count in any step', one('A 4 10:00', 'gave-up 4 11:00'), funnel(ab, without(0, 1)), steps(0, 0)),
  row('insight-142', 'a person with an excluded event after the window counts', one('A 4 10:00', 'gave-up 6 11:00'), funnel(ab, { ...without(0, 1), ...days(1) }), steps(1, 0)),
  row('insight-143', 'a second attempt without an excluded event counts', one('A 4 10:00', 'gave-up 4 11:00', 'A 4 12:00', 'B 4 13:00'), funnel(ab, without(0, 1)), steps(1, 1)),
  row('insight-144', 'excludes events between later steps', history({ p: ['A 4 10:00', 'B 4 11:00', 'gave-up 4 12:00', 'C 4 13:00'], q: ['A 4 10:00', 'B 4 11:00'] }), funnel(abc, without(1, 2)), steps(1, 1, 0)),
  row('insight-145', 'excludes events with a filter', history({ p: ['A 4 10:00', 'gave-up 4 11:00 key=other', 'B 4 12:00'], q: ['A 4 10:00', 'gave-up 4 11:00 key=val', 'B 4 12:00'] }), funnel(ab, without(0, 1, { properties: [filter('key', 'exact', 'val')] })), steps(1, 1)),
  ...[
    [1, 1],
    [1, 0],
    [0, 3],
  ].map(([from = 0, to = 0]) => row('insight-146', `rejects an exclusion from step ${from} to step ${to}`, three, funnel(abc, without(from, to)), badRequest('Exclusion event range is invalid'))),
  row('insight-146', 'rejects an exclusion from a part of an unordered funnel', three, funnel(abc, { ...without(0, 1), funnelOrderType: 'unordered' }), badRequest('Partial Exclusions')),
  row('insight-147', 'the same step twice needs two events', one('A 4 10:00'), funnel(['A', 'A']), steps(1, 0)),
  row(
    'insight-148',
    'steps can have filters',
    history({ p: ['A 4 10:00 url=one', 'A 4 11:00 url=two'], q: ['A 4 10:00 url=one', 'A 4 11:00 url=two', 'A 4 12:00 url=three'] }),
    funnel([node('A', { properties: [filter('url', 'exact', 'one')] }), node('A', { properties: [filter('url', 'exact', 'two')] }), 'A']),
    steps(2, 2, 1),
  ),
  row('insight-149', 'a step can be any event', one('A 4 10:00', 'noise 4 11:00'), funnel(['A', null]), {
    results: [
      { name: 'A', count: 1 },
      { name: null, action_id: null, count: 1 },
    ],
  }),
  row('insight-150', 'simultaneous steps count in any order of storage', one('B 4 10:00', 'A 4 10:00'), funnel(ab), { results: [{ count: 1 }, { count: 1, average_conversion_time: null, median_conversion_time: null }] }),
  row('insight-151', 'a merged person has the events of both', three, funnel(abc), steps(2, 2, 2), { merges: [['p2', 'p3']] }),
  ...['UTC', 'America/Los_Angeles'].map((timezone) => row('insight-152', `a window over a clock change counts elapsed hours, in ${timezone}`, changeOfClock, funnel(ab, { funnelWindowInterval: 4, funnelWindowIntervalUnit: 'hour' }), times(null, 14_400), { timezone })),
  row('insight-153', 'shows zeros without persons', history({}), funnel(ab), steps(0, 0)),
  row('insight-154', 'rejects a funnel without steps', three, funnel([]), badRequest('series')),
  row('insight-154', 'accepts a single step', three, funnel(['A']), steps(3)),
  row('insight-154', 'rejects 33 steps', three, funnel(Array(33).fill('A')), badRequest('series')),
  row('insight-155', 'rejects an action as a step', three, funnel(['A', { kind: 'ActionsNode', id: 1 }]), badRequest('series.1')),
  row('insight-155', 'rejects actors defined by SQL', three, funnel(ab, { funnelAggregateByHogQL: 'properties.x' }), badRequest('funnelAggregateByHogQL')),
  row('insight-155', 'rejects a range from a step to itself', three, funnel(abc, { funnelFromStep: 1, funnelToStep: 1 }), badRequest('Funnel step range is invalid')),
  row('insight-156', 'breaks down by the first value', one('A 4 10:00 browser=Condor', 'B 4 11:00 browser=Falcon'), broken('browser', { breakdownAttributionType: 'first_touch' }), byValue([['Condor'], 1, 1])),
  row('insight-157', 'breaks down by the last value', condorThenSparrow, broken('browser', { breakdownAttributionType: 'last_touch' }), byValue([['Sparrow'], 1, 1])),
  row('insight-157', 'breaks down by the value of the first step', condorThenSparrow, broken('browser', { breakdownAttributionType: 'step', breakdownAttributionValue: 0 }), byValue([['Condor'], 1, 1])),
  row('insight-157', 'breaks down by the value of the second step', condorThenSparrow, broken('browser', { breakdownAttributionType: 'step', breakdownAttributionValue: 1 }), byValue([['Sparrow'], 1, 1])),
  row('insight-157', 'breaks down by a value that all events must have', condorThenSparrow, broken('browser', { breakdownAttributionType: 'all_events' }), byValue([['Condor'], 1, 0])),
  row('insight-158', 'persons without a value have the empty value', one('A 4 10:00', 'B 4 11:00'), broken('browser'), byValue([[''], 1, 1])),
  row('insight-159', 'shows 25 values and the sum of the others', manyBrowsers, broken('browser'), { results: { $set: [...browsers.slice(0, 25).map((browser) => [{ breakdown_value: [browser], count: 2 }, { count: 0 }]), [{ breakdown_value: ['Other'], count: 5 }, { count: 0 }]] } }),
  row('insight-160', 'breaks down by two properties', one('A 4 10:00 browser=Condor os=mac', 'B 4 11:00 browser=Condor os=mac'), broken(['browser', 'os']), byValue([['Condor', 'mac'], 1, 1])),
  row('insight-161', 'rejects an unordered breakdown by the value of a later step', condorThenSparrow, broken('browser', { funnelOrderType: 'unordered', breakdownAttributionType: 'step', breakdownAttributionValue: 1 }), badRequest('Only the first step')),
  row('insight-162', 'shows conversion times in automatic bins', conversions, funnel(abc, { ...toConvert, funnelFromStep: 0, funnelToStep: 1 }), {
    results: {
      bins: [
        [2220, 2],
        [42_510, 0],
        [82_800, 1],
      ],
      average_conversion_time: 29_540,
    },
  }),
  row('insight-163', 'shows a single conversion time in one bin', one('A 4 10:00', 'B 4 11:00', 'C 4 13:00'), funnel(abc, toConvert), {
    results: {
      bins: [
        [10_800, 1],
        [10_860, 0],
      ],
      average_conversion_time: 10_800,
    },
  }),
  row('insight-164', 'shows no bins without conversions', one('A 4 10:00'), funnel(ab, toConvert), { results: { bins: [], average_conversion_time: null } }),
  row('insight-165', 'shows a conversion rate of 100 on the day on which all persons convert', together, trendOf(days(7), march(1, 7)), { results: [{ count: 7, data: [100, 0, 0, 0, 0, 0, 0], entered: [3, 0, 0, 0, 0, 0, 0] }] }),
  row('insight-166', 'shows the conversion rate of a day on which one of three persons converts in time', together, trendOf(days(1), march(1, 7)), { results: [{ data: [33.33, 0, 0, 0, 0, 0, 0] }] }),
  row('insight-167', 'counts a person who enters on two days in both', twice, trendOf(days(7), march(4, 7)), { results: [{ data: [100, 100, 0, 0], entered: [1, 1, 0, 0] }] }),
  row('insight-167', 'counts a person who enters twice in a week once', twice, trendOf(days(7), { ...march(4, 7), interval: 'week' }), { results: [{ data: [100] }] }),
];

const returns = one(...['10', '11', '12', '15', '16'].map((day) => `visit 2024-07-${day}`));
const toTwentieth = { dateRange: { date_to: '2024-07-20T06:00:00' } };
const inJuly = { now: '2024-07-16T18:00:00Z' };
const zeroCounts = (count: number, intervals: number) => Array.from({ length: count }, () => counts(...Array<number>(intervals).fill(0)));
const firstTime = { retentionType: 'retention_first_time' };
const usedThenSigned = one('used 2024-07-14', 'signed-up 2024-07-10');
const rowsFrom = (...dates: string[]) => ({ results: dates.map((date) => ({ date })) });
const lastThree = { totalIntervals: 3, ...visits };

export const retentions: InsightCase[] = [
  row(
    'insight-169',
    'shows eleven days',
    returns,
    retention({ totalIntervals: 11, ...visits }, toTwentieth),
    {
      results: [
        { ...counts(1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0), label: 'Day 0', breakdown_value: null, date: '2024-07-10T00:00:00Z' },
        { ...counts(1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0), label: 'Day 1' },
        counts(1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0),
        ...zeroCounts(2, 11),
        counts(1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        counts(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        ...zeroCounts(4, 11),
      ],
    },
    { now: '2024-12-01T00:00:00Z' },
  ),
  row('insight-170', 'shows the last three days by default, including today', returns, retention(lastThree), rowsFrom('2024-07-14T00:00:00Z', '2024-07-15T00:00:00Z', '2024-07-16T00:00:00Z'), inJuly),
  row('insight-171', 'shows seven rows of three days', returns, retention(lastThree, range('2024-07-10', '2024-07-16')), { results: [counts(1, 1, 1), counts(1, 1, 0), counts(1, 0, 0), ...zeroCounts(2, 3), counts(1, 1, 0), counts(1, 0, 0)] }, inJuly),
  row('insight-172', 'ignores persons whose first time was before the range', returns, retention({ ...lastThree, ...firstTime }, range('2024-07-14', '2024-07-16')), { results: zeroCounts(3, 3) }, inJuly),
  row('insight-173', 'ignores persons who only have the returning event', one('back 2024-07-14', 'back 2024-07-15'), retention({ totalIntervals: 3, targetEntity: { id: 'visit', type: 'events' }, returningEntity: { id: 'back', type: 'events' } }), { results: zeroCounts(3, 3) }, inJuly),
  row(
    'insight-174',
    'the first time is the first that matches the filter',
    one('visit 2024-07-10 12:00 plan=free', 'visit 2024-07-14 12:00 plan=pro', 'visit 2024-07-15 12:00 plan=free'),
    retention({ ...lastThree, ...firstTime, targetEntity: { id: 'visit', type: 'events', properties: [filter('plan', 'exact', 'pro')] } }),
    { results: [counts(1, 1, 0), ...zeroCounts(2, 3)] },
    inJuly,
  ),
  row('insight-175', 'requires at least two returns', one('visit 2024-07-14', 'visit 2024-07-15 10:00', 'visit 2024-07-16 10:00', 'visit 2024-07-16 11:00'), retention({ ...lastThree, minimumOccurrences: 2 }), { results: [counts(1, 0, 1), counts(1, 1, 0), counts(1, 0, 0)] }, inJuly),
  row(
    'insight-176',
    'cumulative: counts persons who return on a day or later',
    returns,
    retention({ totalIntervals: 7, ...visits, cumulative: true }),
    { results: [counts(1, 1, 1, 1, 1, 1, 1), counts(1, 1, 1, 1, 1, 1, 0), counts(1, 1, 1, 1, 1, 0, 0), ...zeroCounts(2, 7), counts(1, 1, 0, 0, 0, 0, 0), counts(1, 0, 0, 0, 0, 0, 0)] },
    inJuly,
  ),
  row('insight-177', 'weeks start on Monday', returns, retention({ ...lastThree, period: 'Week' }, { dateRange: { date_to: '2024-07-17' } }), rowsFrom('2024-07-01T00:00:00Z', '2024-07-08T00:00:00Z', '2024-07-15T00:00:00Z'), { weekStart: 1, now: '2024-12-01T00:00:00Z' }),
  row('insight-177', 'weeks start on Sunday', returns, retention({ ...lastThree, period: 'Week' }, { dateRange: { date_to: '2024-07-17' } }), rowsFrom('2024-06-30T00:00:00Z', '2024-07-07T00:00:00Z', '2024-07-14T00:00:00Z'), { now: '2024-12-01T00:00:00Z' }),
  row('insight-178', 'shows eleven months', returns, retention({ totalIntervals: 11, ...visits, period: 'Month' }), { results: Array.from({ length: 11 }, (_, at) => ({ label: `Month ${at}`, date: `${new Date(Date.UTC(2023, 8 + at, 1)).toISOString().slice(0, 10)}T00:00:00Z` })) }, inJuly),
  row('insight-179', 'days are those of Los Angeles', one('visit 2024-07-15 06:30', 'visit 2024-07-15 07:30'), retention(lastThree), { results: [{ ...counts(1, 1, 0), date: '2024-07-14T00:00:00-07:00' }, counts(1, 0, 0), counts(0, 0, 0)] }, { ...inJuly, timezone: 'America/Los_Angeles' }),
  row('insight-180', 'the returning event can be another one', usedThenSigned, retention({ totalIntervals: 3, targetEntity: { id: 'used', type: 'events' }, returningEntity: { id: 'signed-up', type: 'events' } }), { results: [counts(1, 0, 0), ...zeroCounts(2, 3)] }, inJuly),
  row('insight-181', 'shows page views of seven days by default', one('$pageview 2024-07-10', '$pageview 2024-07-12'), retention(), { results: [counts(1, 0, 1, 0, 0, 0, 0), ...zeroCounts(1, 7), counts(1, 0, 0, 0, 0, 0, 0), ...zeroCounts(4, 7)] }, inJuly),
  row('insight-182', 'rejects actions', returns, retention({ targetEntity: { id: 1, type: 'actions' } }), badRequest('targetEntity')),
];

const statuses = ['new', 'returning', 'resurrecting', 'dormant'];
const lives = (...data: number[][]) => ({ results: data.map((one, at) => ({ status: statuses[at], data: one, count: one.reduce((sum, count) => sum + count, 0) })) });
const none = [0, 0, 0];
const ofLife = (more: object = {}) => ({ kind: 'LifecycleQuery', ...march(9, 11), series: [node('seen')], ...more });

export const lifecycles: InsightCase[] = [
  row('insight-184', 'shows new, returning, resurrecting and dormant persons', 'visits', lifecycle(), {
    results: [
      { status: 'new', label: 'page seen - new', data: [1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0] },
      { status: 'returning', label: 'page seen - returning', data: [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0] },
      { status: 'resurrecting', label: 'page seen - resurrecting', data: [0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1] },
      { status: 'dormant', label: 'page seen - dormant' },
    ],
  }),
  row('insight-185', 'dormant persons are negative numbers', 'visits', lifecycle(), { results: [{}, {}, {}, { status: 'dormant', data: [0, -1, 0, 0, -2, -1, 0, -2, 0, -1, 0], count: -7 }] }),
  row('insight-186', 'a person created before the range and first seen in it is resurrecting', history({ p: ['seen 9'] }, { persons: [person('p', '2024-02-10')] }), ofLife(), lives(none, none, [1, 0, 0], [0, -1, 0])),
  row('insight-187', 'a person created after the event is resurrecting', history({ p: ['seen 9'] }, { persons: [person('p', '2024-03-12')] }), ofLife(), lives(none, none, [1, 0, 0], [0, -1, 0])),
  row('insight-188', 'a person seen on the day before the range is returning', one('seen 8', 'seen 9'), ofLife(), lives(none, [1, 0, 0], none, [0, -1, 0])),
  row('insight-189', 'counts events without a person', one('seen 9 12:00 $process_person_profile=false'), ofLife(), lives(none, none, none, none)),
  row('insight-190', 'shows months', 'visits', lifecycle({ ...range('2024-02-01', '2024-04-30'), interval: 'month' }), lives([0, 4, 0], none, none, [0, 0, -4]), { now: '2024-05-20T12:00:00Z' }),
  row('insight-191', 'rejects two series', 'visits', lifecycle({ series: [node('page seen'), node('page left')] }), badRequest('series')),
  row(
    'insight-192',
    'a group is new when it is created',
    history(
      { p: ['seen 9 12:00 $group_0=one'], q: ['seen 10 12:00 $group_0=two'] },
      {
        groups: [
          { type_index: 0, key: 'one', created_at: '2024-03-09T08:00:00Z', properties: {} },
          { type_index: 0, key: 'two', created_at: '2024-02-01T08:00:00Z', properties: {} },
        ],
      },
    ),
    ofLife({ aggregation_group_type_index: 0 }),
    lives([1, 0, 0], none, [0, 1, 0], [0, -1, -1]),
  ),
];

const tenth = { day: '2024-03-10' };
const eight = history({ ...{ p1: ['A 4 10:00'], p2: ['B 4 10:00'], p3: ['C 4 10:00'] }, ...{ p4: ['A 4 10:00', 'B 4 11:00'], p5: ['C 4 10:00', 'A 4 11:00'] }, ...{ p6: ['A 4 10:00', 'B 4 11:00', 'C 4 12:00'], p7: ['C 4 10:00', 'B 4 11:00', 'A 4 12:00'], p8: ['B 4 10:00', 'A 4 11:00', 'C 4 12:00'] } });
const unordered = funnel(abc, { funnelOrderType: 'unordered' });
const crowd = history(Object.fromEntries(Array.from({ length: 130 }, (_, at) => [`p${String(at).padStart(3, '0')}`, ['page-seen 10']])));
const ofCrowd = (more: object) => ({ ...actorsOf(trends(node('page-seen')), tenth), ...more });

export const actors: InsightCase[] = [
  row('insight-193', 'lists the persons of a day', 'visits', actorsOf(trends(seen), tenth), { actors: ['ann', 'bob', 'cid'] }),
  row('insight-194', 'lists the persons with a value', 'visits', actorsOf(trends(seen, { breakdownFilter: { breakdown: 'browser' } }), { ...tenth, breakdown: 'Falcon' }), { actors: ['bob'] }),
  row('insight-195', 'lists the persons without a value', 'visits', actorsOf(trends(seen, { breakdownFilter: { breakdown: 'email', breakdown_type: 'person' } }), { ...tenth, breakdown: nullValue }), { actors: ['bob', 'cid'] }),
  row('insight-196', 'lists the persons of a week', 'visits', actorsOf(trends(seen, { interval: 'week' }), tenth), { actors: ['ann', 'bob', 'cid', 'dee'] }),
  row('insight-197', 'lists the persons of seven days', 'visits', actorsOf(trends(node('page seen', { math: 'weekly_active' })), { day: '2024-03-17' }), { actors: ['ann', 'dee'] }),
  row('insight-198', 'rejects a day for a total', 'visits', actorsOf(trends(seen, display('BoldNumber')), tenth), badRequest('day')),
  row('insight-198', 'lists all persons of a total', 'visits', actorsOf(trends(seen, display('BoldNumber'))), { actors: ['ann', 'bob', 'cid', 'dee'] }),
  row('insight-199', 'lists dormant persons', 'visits', actorsOf(lifecycle(), { day: '2024-03-11', status: 'dormant' }), { actors: ['bob', 'cid'] }),
  row('insight-200', 'lists the persons who completed one step', eight, funnelActorsOf(unordered, { funnelStep: 1 }), { actorCount: 8 }),
  row('insight-200', 'lists the persons who completed three steps', eight, funnelActorsOf(unordered, { funnelStep: 3 }), { actors: ['p6', 'p7', 'p8'] }),
  row('insight-200', 'lists the persons who stopped after one step', eight, funnelActorsOf(unordered, { funnelStep: -2 }), { actors: ['p1', 'p2', 'p3'] }),
  ...[0, -1].map((funnelStep) => row('insight-201', `rejects step ${funnelStep}`, eight, funnelActorsOf(unordered, { funnelStep }), badRequest('funnelStep'))),
  row('insight-201', 'lists no persons for a step that does not exist', eight, funnelActorsOf(unordered, { funnelStep: 4 }), { actors: [] }),
  row('insight-202', 'does not list a person with an excluded event in the first step', history({ p: ['A 4 10:00', 'gave-up 4 11:00', 'B 4 12:00'], q: ['A 4 10:00'] }), funnelActorsOf(funnel(ab, without(0, 1)), { funnelStep: 1 }), { actors: ['q'] }),
  row('insight-204', 'lists a hundred persons, and that more exist', crowd, ofCrowd({ limit: 100 }), { actorCount: 100, hasMore: true }),
  row('insight-204', 'lists the remaining thirty persons', crowd, ofCrowd({ limit: 100, offset: 100 }), { actorCount: 30, hasMore: false }),
];

const eventsOfDay = history({ p: ['tick 14 13:00', 'tick 14 15:00', 'tick 15 10:00', 'tick 15 14:00'] });
const halfPastTwo = { now: '2024-03-15T14:30:00Z' };
const moments = ['event', 'timestamp'];

export const lists: InsightCase[] = [
  row('insight-205', 'counts events by name', 'visits', events(['event', 'count()'], { after: 'all' }), {
    results: [
      ['page seen', 10],
      ['page left', 6],
    ],
  }),
  row(
    'insight-206',
    'lists the last day, the newest first',
    eventsOfDay,
    events(moments),
    {
      ...{
        results: [
          ['tick', '2024-03-15T14:00:00Z'],
          ['tick', '2024-03-15T10:00:00Z'],
          ['tick', '2024-03-14T15:00:00Z'],
        ],
      },
      ...{ columns: moments, hasMore: false, limit: 100, offset: 0 },
    },
    halfPastTwo,
  ),
  row(
    'insight-207',
    'the bounds of the time range are exclusive',
    eventsOfDay,
    events(moments, { after: '2024-03-14T13:00:00Z', before: '2024-03-15T14:00:00Z' }),
    {
      results: [
        ['tick', '2024-03-15T10:00:00Z'],
        ['tick', '2024-03-14T15:00:00Z'],
      ],
    },
    halfPastTwo,
  ),
  row('insight-208', 'rejects an expression without a parser', 'visits', events(['sum(properties.amount)']), badRequest('select.0: SQL expressions cannot run here.')),
  row('insight-209', 'returns null for a property that the person does not have', one('tick 15 10:00'), events(['event', 'person.properties.email']), { results: [['tick', null]] }, halfPastTwo),
  row('insight-210', 'accepts the query in a table node', eventsOfDay, { kind: 'DataTableNode', source: events(moments, { limit: 1 }) }, { results: [['tick', '2024-03-15T14:00:00Z']], hasMore: true }, halfPastTwo),
];
