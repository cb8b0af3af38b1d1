/** Random trends, formulas, and lists of the actors that a number counts. */

import fc from 'fast-check';
import { nullLabel, otherLabel } from '../src/breakdown-labels.ts';
import {
  breakdownValueOf,
  type Counting,
  compareLines,
  dayIn,
  filterHistory,
  type NaiveLine,
  type NaiveProperty,
  type NaiveTrend,
  naiveTrend,
  nextInterval,
  shifted,
  startOfInterval,
} from './naive-results.ts';
import { eventNames, type StoredHistory } from './random-history.ts';
import {
  breakdownOf,
  breakdownProperty,
  eventName,
  filters,
  idsOf,
  interval,
  node,
  raise,
  range,
  rangeOf,
  readIds,
  type Translated,
  type ValueOf,
} from './random-parts.ts';

const active = ['weekly_active', 'monthly_active'] as const;
const ranked = [
  ...(['total', 'dau', 'first_time_for_user'] as const),
  ...(['sum', 'min', 'max', 'median', 'max_count_per_actor'] as const),
  ...active,
] as const;
/** Aggregations whose results are too inexact to rank breakdown values by them. */
const unranked = ['avg', 'p90', 'avg_count_per_actor'] as const;

export const trend = fc
  .record({
    kind: fc.constant('trend' as const),
    event: fc.constantFrom(...eventNames, null),
    math: fc.constantFrom<Counting[]>(...ranked, ...unranked),
    interval: fc.constantFrom<NaiveTrend['interval'][]>('hour', 'day', 'week', 'month'),
    shows: fc.constantFrom<NaiveTrend['shows'][]>('each', 'each', 'cumulative', 'total'),
    filters,
    by: breakdownProperty,
    limit: fc.constantFrom(1, 2, 25),
    compareTo: fc.constantFrom(null, null, 'before', '-1w', '-5d'),
    range,
  })
  .map((asked) => {
    const isActive = (active as readonly string[]).includes(asked.math);
    const isRanked = (ranked as readonly string[]).includes(asked.math);
    return {
      ...asked,
      ...(isActive && asked.interval === 'hour' && { interval: 'day' as const }),
      ...(isActive && asked.shows === 'cumulative' && { shows: 'each' as const }),
      ...(!isRanked && { by: null }),
      // Monthly and hourly queries do not compare periods, because the previous period would begin at a different time
      // in the interval.
      ...((asked.interval === 'month' || asked.interval === 'hour') && { compareTo: null }),
    };
  });

export const formula = fc.record({
  kind: fc.constant('formula' as const),
  events: fc.tuple(eventName, eventName),
  formula: fc.constantFrom('A / B', 'A - 2 * B'),
  interval,
  by: breakdownProperty,
  range,
});

export const actors = fc.record({
  kind: fc.constant('actors' as const),
  event: fc.constantFrom(...eventNames, null),
  interval,
  filters,
  by: breakdownProperty,
  range,
});

interface Series {
  breakdown_value?: string;
  data: number[];
  aggregated_value?: number;
}
const readLine = ({ breakdown_value: value = '', data, aggregated_value: total }: Series) => [
  value,
  total === undefined ? data : [total],
];
const lineOf =
  (by: NaiveProperty | null) =>
  ({ value, isOther, data }: NaiveLine) => [by === null ? '' : isOther ? otherLabel : (value ?? nullLabel), data];

const displays = { each: 'ActionsLineGraph', cumulative: 'ActionsLineGraphCumulative', total: 'ActionsTable' };

export function translateTrend(given: ValueOf<typeof trend>, stored: StoredHistory): Translated {
  // An hourly range until now ends with the current hour instead of the current day.
  const asked = given.interval === 'hour' && 'back' in given.range ? { ...given, interval: 'day' as const } : given;
  const { event, math, interval: each, shows, filters: properties, limit, compareTo } = asked;
  const { from, to, dateRange } = rangeOf(stored, asked);
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
  // If a range consists of complete weeks until now, the previous period has the same days of the week.
  const isWeeks = 'back' in asked.range && asked.range.back > 0 && asked.range.back % 7 === 0;
  const isOfDays = each === 'day' || shows === 'total';
  const back = { '-1w': 7, '-5d': 5 }[String(compareTo)] ?? (isWeeks && isOfDays ? days - 1 : days);
  const lines = (shift: number) =>
    naiveTrend(stored.memory, { ...asked, from: shifted(from, -shift), to: shifted(to, -shift) });
  const all = [...lines(0), ...(compareTo === null ? [] : lines(back))];
  return {
    query: {
      kind: 'TrendsQuery',
      ...{ dateRange, interval: each, properties },
      series: [{ ...node(event), math, math_property: 'amount' }],
      trendsFilter: { display: displays[shows] },
      ...breakdownOf(asked.by, limit),
      ...(compareTo !== null && {
        compareFilter: { compare: true, ...(compareTo !== 'before' && { compare_to: compareTo }) },
      }),
    },
    expected: all.map(lineOf(asked.by)),
    read: (results: Series[]) => results.map(readLine),
  };
}

/** In formulas, a breakdown value that is missing in a series counts as zero. */
export function translateFormula(asked: ValueOf<typeof formula>, stored: StoredHistory): Translated {
  const { events, formula, interval: each, by: split } = asked;
  const { from, to, dateRange } = rangeOf(stored, asked);
  // Quotients are inexact, so ranking breakdown values by them is unreliable.
  const ranks = formula === 'A / B' ? null : split;
  const naive = { math: 'total' as const, filters: [], limit: 25, shows: 'each' as const };
  const [a = [], b = []] = events.map((event) =>
    naiveTrend(stored.memory, { ...naive, event, interval: each, by: ranks, from, to }),
  );
  const lines = [...new Set([...a, ...b].map(({ value }) => value))].map((value) => {
    const length = (a[0] ?? b[0])?.data.length ?? 0;
    const numbers = (some: NaiveLine[]) => some.find((line) => line.value === value)?.data ?? new Array(length).fill(0);
    const [x, y] = [numbers(a), numbers(b)];
    const data = Array.from({ length }, (_, at) =>
      formula === 'A / B' ? (y[at] === 0 ? 0 : (x[at] ?? 0) / (y[at] ?? 0)) : (x[at] ?? 0) - 2 * (y[at] ?? 0),
    );
    return { value, isOther: false, data };
  });
  return {
    query: {
      kind: 'TrendsQuery',
      ...{ dateRange, interval: each },
      series: events.map(node),
      trendsFilter: { formula },
      ...breakdownOf(ranks),
    },
    expected: lines.sort(compareLines).map(lineOf(ranks)),
    read: (results: Series[]) => results.map(readLine),
  };
}

/** Lists the actors that the first number of an existing breakdown value counts. */
export function translateActors(asked: ValueOf<typeof actors>, stored: StoredHistory): Translated {
  const { event, interval: each, filters: properties, by: split } = asked;
  const { from, dateRange } = rangeOf(stored, asked);
  const first = startOfInterval(from, each);
  const { memory } = stored;
  const isNamed = (one: { event: string }) => event === null || one.event === event;
  const ofValue = split === null ? null : breakdownValueOf(memory, memory.events[0] ?? raise(), split);
  const persons = filterHistory(memory, properties).events.filter((one) => {
    const on = dayIn(memory.zone, one.time);
    const isInside = on >= first && on < nextInterval(first, each);
    return isNamed(one) && isInside && (split === null || breakdownValueOf(memory, one, split) === ofValue);
  });
  return {
    query: {
      kind: 'ActorsQuery',
      select: ['id'],
      orderBy: ['id'],
      source: {
        kind: 'InsightActorsQuery',
        day: first,
        ...(split !== null && { breakdown: ofValue ?? nullLabel }),
        source: {
          kind: 'TrendsQuery',
          ...{ dateRange, interval: each, properties },
          series: [{ ...node(event), math: 'dau' }],
          ...breakdownOf(split),
        },
      },
    },
    expected: idsOf(stored, persons),
    read: readIds,
  };
}
