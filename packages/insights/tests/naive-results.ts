/**
 * A simple reference implementation that computes results from events in memory. Tests compare these results with those
 * of Millrace.
 */

export interface HistoryEvent {
  event: string;
  /** The person to whom the event currently belongs. */
  person: string;
  time: number;
  properties: Record<string, unknown>;
}

export interface History {
  events: HistoryEvent[];
  created: Map<string, number>;
  /** Current value of each person's property `tier`. */
  tiers: Map<string, unknown>;
  zone: string;
}

/** Weeks start on Monday. */
export type NaiveInterval = 'day' | 'week' | 'month';

const hourMs = 3_600_000;
const formatters = new Map<string, Intl.DateTimeFormat>();

function wallIn(zone: string, time: number): string {
  const formatter =
    formatters.get(zone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  formatters.set(zone, formatter);
  return formatter.format(time);
}

export const dayIn = (zone: string, time: number) => wallIn(zone, time).slice(0, 10);
export const shifted = (day: string, by: number) =>
  new Date(Date.parse(`${day}T00:00Z`) + by * 86_400_000).toISOString().slice(0, 10);

export function startOfInterval(day: string, interval: NaiveInterval): string {
  if (interval === 'day') return day;
  if (interval === 'month') return `${day.slice(0, 7)}-01`;
  return shifted(day, -((new Date(`${day}T00:00Z`).getUTCDay() + 6) % 7));
}

export function nextInterval(start: string, interval: NaiveInterval): string {
  if (interval === 'day') return shifted(start, 1);
  return interval === 'week' ? shifted(start, 7) : startOfInterval(shifted(start, 32), 'month');
}

export function intervalsBetween(from: string, to: string, interval: NaiveInterval): string[] {
  const starts: string[] = [];
  for (let start = startOfInterval(from, interval); start <= to; start = nextInterval(start, interval))
    starts.push(start);
  return starts;
}

/**
 * Returns all full hours on the given days. Checks every quarter of an hour, because time zone offsets are multiples of
 * 15 minutes.
 */
function hoursBetween(zone: string, from: string, to: string): number[] {
  const beginning = Date.parse(from) - 24 * hourMs;
  const quarters = (Date.parse(to) + 48 * hourMs - beginning) / (hourMs / 4);
  return Array.from({ length: quarters }, (_, at) => beginning + (at * hourMs) / 4).filter((time) => {
    const wall = wallIn(zone, time);
    return wall.endsWith(':00') && wall.slice(0, 10) >= from && wall.slice(0, 10) <= to;
  });
}

export interface NaiveProperty {
  type: 'event' | 'person';
  key: string;
}

export interface NaiveFilter extends NaiveProperty {
  operator: 'exact' | 'is_not' | 'is_set' | 'is_not_set' | 'gt' | 'lte';
  value: string | number | boolean;
}

function propertyOf({ tiers }: History, { person, properties }: HistoryEvent, { type, key }: NaiveProperty): unknown {
  return type === 'person' ? tiers.get(person) : properties[key];
}

function numberIn(value: unknown): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : null;
}

function holds(value: unknown, { operator, value: query }: NaiveFilter): boolean {
  const isSet = value !== undefined && value !== null;
  const number = numberIn(value);
  switch (operator) {
    case 'exact':
      return isSet && String(value) === String(query);
    case 'is_not':
      return !isSet || String(value) !== String(query);
    case 'is_set':
      return isSet;
    case 'is_not_set':
      return !isSet;
    case 'gt':
      return number !== null && number > Number(query);
    case 'lte':
      return number !== null && number <= Number(query);
    default:
      return operator satisfies never;
  }
}

export function filterHistory(history: History, filters: readonly NaiveFilter[]): History {
  const isSelected = (event: HistoryEvent) =>
    filters.every((filter) => holds(propertyOf(history, event, filter), filter));
  return { ...history, events: history.events.filter(isSelected) };
}

/** Returns an event's breakdown value. The result is null for missing values, null and empty strings. */
export function breakdownValueOf(history: History, event: HistoryEvent, by: NaiveProperty): string | null {
  const value = propertyOf(history, event, by);
  return value === undefined || value === null || value === '' ? null : String(value);
}

export type Counting =
  | ('total' | 'dau' | 'weekly_active' | 'monthly_active' | 'first_time_for_user')
  | ('sum' | 'avg' | 'min' | 'max' | 'median' | 'p90' | 'avg_count_per_actor' | 'max_count_per_actor');

export interface NaiveTrend {
  event: string | null;
  math: Counting;
  /** An hourly range ends with the first hour of its last day. */
  interval: NaiveInterval | 'hour';
  from: string;
  to: string;
  filters: readonly NaiveFilter[];
  by: NaiveProperty | null;
  /** Maximum number of breakdown values. All other values are combined into one line. */
  limit: number;
  shows: 'each' | 'cumulative' | 'total';
}

export interface NaiveLine {
  /** The breakdown value, or null if the events have no value. */
  value: string | null;
  isOther: boolean;
  data: number[];
}

/** Returns one line per value, the largest first, or a single line without a breakdown. */
export function naiveTrend(history: History, query: NaiveTrend): NaiveLine[] {
  const { by, limit, shows } = query;
  const counted = countedBy(history, query);
  const data = (events: HistoryEvent[]) => bucketsOf(history, events, query).map((bucket) => numberOf(bucket, query));
  const filled = (numbers: (number | null)[]) => numbers.map((number) => number ?? 0);
  if (by === null) return [{ value: null, isOther: false, data: growing(filled(data(counted)), shows) }];
  const lines = [...new Set(counted.map((event) => breakdownValueOf(history, event, by)))]
    .map((value) => ({ value, data: data(counted.filter((event) => breakdownValueOf(history, event, by) === value)) }))
    // Omit breakdown values that have no number in any interval.
    .filter(({ data }) => data.some((number) => number !== null))
    .map(({ value, data }) => ({ value, isOther: false, data: filled(data) }))
    // In totals, the line for missing values can come first.
    .sort(shows === 'total' ? compareTotals : compareLines);
  const rest = lines.slice(limit);
  const others = rest[0]?.data.map((_, at) => sumOf(rest.map(({ data }) => data[at] ?? 0)));
  return [
    ...lines.slice(0, limit).sort(compareLines),
    ...(others === undefined ? [] : [{ value: null, isOther: true, data: others }]),
  ].map((line) => ({ ...line, data: growing(line.data, shows) }));
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

function compareTotals(a: NaiveLine, b: NaiveLine): number {
  const [of, than] = [a.value ?? '\uffff', b.value ?? '\uffff'];
  return sumOf(b.data) - sumOf(a.data) || (of < than ? -1 : Number(of > than));
}

export function compareLines(a: NaiveLine, b: NaiveLine): number {
  return Number(a.value === null) - Number(b.value === null) || compareTotals(a, b);
}

function growing(data: number[], shows: NaiveTrend['shows']): number[] {
  return shows === 'cumulative' ? data.map((_, at) => sumOf(data.slice(0, at + 1))) : data;
}

/**
 * Returns the events that have the name and match the filters. For first-time counts, returns only each person's first
 * event with the name.
 */
function countedBy(history: History, { event, math, filters }: NaiveTrend): HistoryEvent[] {
  const isNamed = (one: HistoryEvent) => event === null || one.event === event;
  const named = filterHistory(history, filters).events.filter(isNamed);
  if (math !== 'first_time_for_user') return named;
  const all = history.events.filter(isNamed);
  return named.filter((one) => !all.some(({ person, time }) => person === one.person && time < one.time));
}

/** Returns the events of each interval. For active persons, also includes the events of the preceding days. */
function bucketsOf({ zone }: History, events: HistoryEvent[], query: NaiveTrend): HistoryEvent[][] {
  const { math, interval, to, shows } = query;
  const from = interval === 'month' && shows !== 'total' ? startOfInterval(query.from, 'month') : query.from;
  const onDays = (first: string, last: string, some = events) =>
    some.filter(({ time }) => dayIn(zone, time) >= first && dayIn(zone, time) <= last);
  const back = math === 'weekly_active' ? 7 : math === 'monthly_active' ? 30 : null;
  if (shows === 'total') return [back === null ? onDays(from, to) : onDays(shifted(to, 1 - back), to)];
  // In a cumulative trend, a person counts in the interval of the person's first event.
  const counting = (some: HistoryEvent[]) => (shows === 'cumulative' && math === 'dau' ? firstOfEach(some) : some);
  if (interval === 'hour') {
    const end = hoursBetween(zone, to, to)[0] ?? 0;
    const hours = hoursBetween(zone, from, to).filter((hour) => hour <= end);
    const inRange = counting(events.filter(({ time }) => time >= (hours[0] ?? 0) && time <= end));
    return hours.map((hour, at) => inRange.filter(({ time }) => time >= hour && time < (hours[at + 1] ?? Infinity)));
  }
  const inRange = counting(onDays(from, to));
  return intervalsBetween(from, to, interval).map((start) => {
    if (back !== null && interval === 'day') return onDays(shifted(start, 1 - back), start);
    if (back === 30 && interval === 'week') return onDays(shifted(start, -29), start);
    return onDays(start, shifted(nextInterval(start, interval), -1), inRange);
  });
}

function firstOfEach(events: HistoryEvent[]): HistoryEvent[] {
  return [...byPerson(events).values()].flatMap((own) => own.slice(0, 1));
}

/** Returns null if the events have no values to aggregate. */
function numberOf(events: HistoryEvent[], { math }: NaiveTrend): number | null {
  const persons = [...byPerson(events).values()].map((own) => own.length);
  const amounts = events.flatMap(({ properties: { amount } }) => numberIn(amount) ?? []);
  switch (math) {
    case 'total':
      return events.length || null;
    case 'dau':
    case 'weekly_active':
    case 'monthly_active':
    case 'first_time_for_user':
      return persons.length || null;
    case 'sum':
      return amounts.length === 0 ? null : sumOf(amounts);
    case 'avg':
      return amounts.length === 0 ? null : sumOf(amounts) / amounts.length;
    case 'min':
      return percentile(amounts, 0);
    case 'max':
      return percentile(amounts, 1);
    case 'median':
      return percentile(amounts, 0.5);
    case 'p90':
      return percentile(amounts, 0.9);
    case 'avg_count_per_actor':
      return persons.length === 0 ? null : sumOf(persons) / persons.length;
    case 'max_count_per_actor':
      return percentile(persons, 1);
    default:
      return math satisfies never;
  }
}

/** Interpolates between the two nearest numbers. */
function percentile(numbers: number[], share: number): number | null {
  const inOrder = [...numbers].sort((a, b) => a - b);
  const rank = share * (inOrder.length - 1);
  const [low, high] = [inOrder[Math.floor(rank)], inOrder[Math.ceil(rank)]];
  return low === undefined || high === undefined ? null : low + (high - low) * (rank - Math.floor(rank));
}

export function byPerson(events: readonly HistoryEvent[]): Map<string, HistoryEvent[]> {
  const lists = new Map<string, HistoryEvent[]>();
  for (const one of [...events].sort((a, b) => a.time - b.time))
    lists.set(one.person, [...(lists.get(one.person) ?? []), one]);
  return lists;
}

export interface NaiveRetention {
  target: string;
  returning: string;
  interval: NaiveInterval;
  /** If true, each person counts only in the row of the person's first event of all time. */
  isFirstTime: boolean;
  isCumulative: boolean;
  from: string;
  to: string;
  columns: number;
}

/**
 * Returns one row per interval: the number of persons with the target event, and how many of them returned in each
 * later interval.
 */
export function naiveRetention(
  { events, zone }: History,
  { target, returning, interval, isFirstTime, isCumulative, from, to, columns }: NaiveRetention,
): number[][] {
  const rows = intervalsBetween(from, to, interval);
  const targets = events.filter(({ event }) => event === target);
  const counted = isFirstTime ? firstOfEach(targets) : targets;
  const inInterval = (some: HistoryEvent[]) =>
    rows.map((start) => {
      const own = some.filter(({ time }) => startOfInterval(dayIn(zone, time), interval) === start);
      return new Set(own.map(({ person }) => person));
    });
  const began = inInterval(counted);
  const came = inInterval(events.filter(({ event }) => event === returning));
  return began.map((persons, row) =>
    Array.from({ length: columns }, (_, later) => {
      if (later === 0) return persons.size;
      const then = isCumulative ? came.slice(row + later) : came.slice(row + later, row + later + 1);
      return [...persons].filter((person) => then.some((some) => some.has(person))).length;
    }),
  );
}

export function naiveLifecycle(
  { events, created, zone }: History,
  { event, interval, from, to }: { event: string; interval: NaiveInterval; from: string; to: string },
): number[][] {
  const intervals = intervalsBetween(from, to, interval);
  const numbers = [0, 1, 2, 3].map(() => intervals.map(() => 0));
  const add = (status: number, start: string, by: number) => {
    const at = intervals.indexOf(start);
    const row = numbers[status];
    if (at >= 0 && row !== undefined) row[at] = (row[at] ?? 0) + by;
  };
  const intervalOf = (time: number) => startOfInterval(dayIn(zone, time), interval);
  const before = intervalsBetween(shifted(intervals[0] ?? from, -1), to, interval);
  for (const [person, own] of byPerson(events.filter((one) => one.event === event))) {
    if (!created.has(person)) continue;
    const active = [...new Set(own.map(({ time }) => intervalOf(time)))].filter((start) => before.includes(start));
    active.forEach((start, at) => {
      const isNew = at === 0 && intervalOf(created.get(person) ?? 0) === start;
      const isReturning = at > 0 && nextInterval(active[at - 1] ?? '', interval) === start;
      const next = nextInterval(start, interval);
      add(isNew ? 0 : isReturning ? 1 : 2, start, 1);
      if (active[at + 1] !== next) add(3, next, -1);
    });
  }
  return numbers;
}
