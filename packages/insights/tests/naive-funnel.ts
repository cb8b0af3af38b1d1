/** A simple reference implementation of funnels. It follows each possible start of a path as far as possible. */

import {
  breakdownValueOf,
  byPerson,
  dayIn,
  type History,
  type HistoryEvent,
  intervalsBetween,
  type NaiveProperty,
} from './naive-results.ts';

export interface NaiveFunnel {
  steps: string[];
  optional: string[];
  order: 'ordered' | 'strict' | 'unordered';
  /** An event that must not happen between two steps. */
  exclusion: { event: string; fromStep: number; toStep: number } | null;
  windowMs: number;
  from: string;
  to: string;
}

export interface NaivePath {
  times: number[];
  isExcluded: boolean;
}

/** Returns the best path of each person who reached at least one step. */
export function naivePaths({ events, zone }: History, query: NaiveFunnel): Map<string, NaivePath> {
  const { from, to } = query;
  const inRange = events.filter(({ time }) => dayIn(zone, time) >= from && dayIn(zone, time) <= to);
  const ways = [...byPerson(inRange)].map(([person, own]) => [person, bestOf(longestWays(own, query))] as const);
  return new Map(ways.flatMap(([person, way]) => (way === null || way.isExcluded ? [] : [[person, way] as const])));
}

const waysOf = (own: HistoryEvent[], query: NaiveFunnel, mayBegin: (event: HistoryEvent) => boolean = () => true) =>
  own.flatMap((event, at) => (mayBegin(event) ? (wayFrom(own.slice(at), query) ?? []) : []));

/**
 * Returns all valid paths. In an unordered funnel, an exclusion discards the earlier part of a path that has not
 * reached all steps.
 */
function longestWays(
  own: HistoryEvent[],
  query: NaiveFunnel,
  mayBegin?: (event: HistoryEvent) => boolean,
): NaivePath[] {
  const ways = waysOf(own, query, mayBegin);
  const last = own.findLastIndex(({ event }) => event === query.exclusion?.event);
  if (query.order !== 'unordered' || last < 0 || ways.some(({ times }) => times.length === query.steps.length))
    return ways;
  return waysOf(own.slice(last + 1), query, mayBegin);
}

/**
 * Returns the path that got furthest. Among equal paths, prefers those without an exclusion, then the earliest end, and
 * then the latest start.
 */
function bestOf(ways: NaivePath[]): NaivePath | null {
  const last = ({ times }: NaivePath) => times.at(-1) ?? 0;
  const better = (a: NaivePath, b: NaivePath) =>
    b.times.length - a.times.length ||
    Number(a.isExcluded) - Number(b.isExcluded) ||
    last(a) - last(b) ||
    (b.times[0] ?? 0) - (a.times[0] ?? 0);
  return [...ways].sort(better)[0] ?? null;
}

function wayFrom(
  events: HistoryEvent[],
  { steps, optional, order, exclusion, windowMs }: NaiveFunnel,
): NaivePath | null {
  const [first] = events;
  if (first === undefined) return null;
  const within = events.filter(({ time }) => time - first.time <= windowMs);
  if (order === 'unordered') {
    const excluded = within.findIndex(({ event }) => event === exclusion?.event);
    const clean = excluded < 0 ? within : within.slice(0, excluded);
    const taken = steps.flatMap((step) => clean.find(({ event }) => event === step)?.time ?? []);
    return taken.length === 0 ? null : { times: taken.sort((a, b) => a - b), isExcluded: false };
  }
  if (first.event !== steps[0]) return null;
  const times = [first.time];
  let reached = 1;
  for (const { event, time } of within.slice(1)) {
    const isBetween = exclusion !== null && reached > exclusion.fromStep && reached <= exclusion.toStep;
    if (event === exclusion?.event && isBetween) return { times, isExcluded: true };
    const next = steps.indexOf(event);
    const isNext = next >= reached && steps.slice(reached, next).every((step) => optional.includes(step));
    if (isNext) {
      reached = next + 1;
      times[next] = time;
    } else if (order === 'strict' && event !== steps[reached - 1]) break;
  }
  return { times, isExcluded: false };
}

export function naiveSteps(history: History, query: NaiveFunnel): { counts: number[]; seconds: (number | null)[] } {
  const ways = [...naivePaths(history, query).values()];
  const seconds = query.steps.map((_, step) => {
    const taken = ways.flatMap(({ times }) => ((times[step] ?? 0) - (times[step - 1] ?? Infinity)) / 1000);
    const some = taken.filter((one) => one > 0 && Number.isFinite(one));
    return some.length === 0 ? null : some.reduce((sum, one) => sum + one, 0) / some.length;
  });
  return { counts: query.steps.map((_, step) => ways.filter(({ times }) => times.length > step).length), seconds };
}

/**
 * Returns the steps of each breakdown value. A person counts either for all values of the person's events, or only for
 * the value that is attributed to the person.
 */
export function naiveBreakdownSteps(
  history: History,
  query: NaiveFunnel & { by: NaiveProperty; attribution: 'first_touch' | 'last_touch' | 'all_events' },
): { value: string; counts: number[] }[] {
  const { by, attribution, steps, exclusion } = query;
  const textOf = (event: HistoryEvent) => breakdownValueOf(history, event, by) ?? '';
  const inRange = ({ time }: HistoryEvent) =>
    dayIn(history.zone, time) >= query.from && dayIn(history.zone, time) <= query.to;
  const matters = ({ event }: HistoryEvent) => steps.includes(event) || event === exclusion?.event;
  const touches = new Map(
    [...byPerson(history.events.filter((event) => inRange(event) && matters(event)))].map(([person, own]) => {
      const values = own.map(textOf).filter((value) => value !== '');
      return [person, (attribution === 'first_touch' ? values[0] : values.at(-1)) ?? ''];
    }),
  );
  const valueFor = (event: HistoryEvent) =>
    attribution === 'all_events' ? textOf(event) : (touches.get(event.person) ?? '');
  return [...new Set(history.events.map(valueFor))]
    .map((value) => {
      const events = history.events.filter((event) => valueFor(event) === value);
      return { value, counts: naiveSteps({ ...history, events }, query).counts };
    })
    .filter(({ counts }) => counts[0] !== 0)
    .sort((a, b) => {
      const further = steps.map((_, step) => (b.counts[step] ?? 0) - (a.counts[step] ?? 0)).reverse();
      return further.find((difference) => difference !== 0) ?? (a.value < b.value ? -1 : 1);
    });
}

/** Returns the conversion rate of each day in percent. A person counts on the day of entering the funnel. */
export function naiveRates(history: History, query: NaiveFunnel): number[] {
  const { events, zone } = history;
  const { from, to, steps } = query;
  const inRange = events.filter(({ time }) => dayIn(zone, time) >= from && dayIn(zone, time) <= to);
  const all = [...byPerson(inRange).values()];
  return intervalsBetween(from, to, 'day').map((day) => {
    const ways = all
      .map((own) => bestOf(longestWays(own, query, ({ time }) => dayIn(zone, time) === day)))
      .filter((way): way is NaivePath => way !== null && !way.isExcluded);
    const converted = ways.filter(({ times }) => times.length === steps.length).length;
    return ways.length === 0 ? 0 : Math.round((10_000 * converted) / ways.length) / 100;
  });
}
