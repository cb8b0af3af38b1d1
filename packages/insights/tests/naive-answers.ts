/** Answers worked out from events in memory, in the plainest way: what the product says is held against them. */

export interface ToldEvent {
  event: string;
  /** Whom it belongs to now. */
  person: string;
  time: number;
  properties: Record<string, unknown>;
}

export interface History {
  events: ToldEvent[];
  /** When each person was created. */
  created: Map<string, number>;
  zone: string;
}

export type NaiveInterval = 'day' | 'week' | 'month';

const formatters = new Map<string, Intl.DateTimeFormat>();

/** `2026-03-29`: what a calendar on the wall shows. */
function dayIn(zone: string, time: number): string {
  const formatter =
    formatters.get(zone) ??
    new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
  formatters.set(zone, formatter);
  return formatter.format(time);
}

const shifted = (day: string, by: number) =>
  new Date(Date.parse(`${day}T00:00Z`) + by * 86_400_000).toISOString().slice(0, 10);

/** The first day of the interval a day lies in; weeks begin on Monday. */
function startOfInterval(day: string, interval: NaiveInterval): string {
  if (interval === 'day') return day;
  if (interval === 'month') return `${day.slice(0, 7)}-01`;
  return shifted(day, -((new Date(`${day}T00:00Z`).getUTCDay() + 6) % 7));
}

function nextInterval(start: string, interval: NaiveInterval): string {
  if (interval === 'day') return shifted(start, 1);
  return interval === 'week' ? shifted(start, 7) : startOfInterval(shifted(start, 32), 'month');
}

function intervalsBetween(from: string, to: string, interval: NaiveInterval): string[] {
  const starts: string[] = [];
  for (let start = startOfInterval(from, interval); start <= to; start = nextInterval(start, interval))
    starts.push(start);
  return starts;
}

export type Counting = 'total' | 'dau' | 'weekly_active' | 'sum' | 'avg_count_per_actor';

export interface NaiveTrend {
  event: string | null;
  math: Counting;
  interval: NaiveInterval;
  from: string;
  to: string;
  /** Only events with this value of `plan`. */
  plan: string | null;
}

export function naiveTrend({ events, zone }: History, { event, math, interval, from, to, plan }: NaiveTrend): number[] {
  const named = events.filter(
    (one) => (event === null || one.event === event) && (plan === null || one.properties.plan === plan),
  );
  const first = interval === 'month' ? startOfInterval(from, 'month') : from;
  return intervalsBetween(from, to, interval).map((start) => {
    const inBucket = named.filter((one) => {
      const day = dayIn(zone, one.time);
      return day >= first && day <= to && startOfInterval(day, interval) === start;
    });
    switch (math) {
      case 'total':
        return inBucket.length;
      case 'dau':
        return new Set(inBucket.map(({ person }) => person)).size;
      case 'weekly_active': {
        if (interval !== 'day') return new Set(inBucket.map(({ person }) => person)).size;
        const days = (day: string) => day > shifted(start, -7) && day <= start;
        return new Set(named.filter((one) => days(dayIn(zone, one.time))).map(({ person }) => person)).size;
      }
      case 'sum':
        return inBucket.reduce((sum, { properties: { amount } }) => sum + (typeof amount === 'number' ? amount : 0), 0);
      case 'avg_count_per_actor':
        return inBucket.length === 0 ? 0 : inBucket.length / new Set(inBucket.map(({ person }) => person)).size;
      default:
        return math satisfies never;
    }
  });
}

interface NaiveSteps {
  steps: string[];
  /** Those of the steps that may be skipped. */
  optional: string[];
  order: 'ordered' | 'strict' | 'unordered';
  windowMs: number;
}

/** How many persons reached each step: from each first step, as far as the next ones follow within the window. */
export function naiveFunnel(
  { events, zone }: History,
  { steps, order, optional, windowMs, from, to }: NaiveSteps & { from: string; to: string },
): number[] {
  const counts = steps.map(() => 0);
  for (const own of byPerson(
    events.filter(({ time }) => dayIn(zone, time) >= from && dayIn(zone, time) <= to),
  ).values()) {
    const furthest = Math.max(
      0,
      ...own.map((_, at) => reachedFrom(own.slice(at), { steps, optional, order, windowMs })),
    );
    for (let step = 0; step < furthest; step++) counts[step] = (counts[step] ?? 0) + 1;
  }
  return counts;
}

function byPerson(events: ToldEvent[]): Map<string, ToldEvent[]> {
  const lists = new Map<string, ToldEvent[]>();
  for (const one of [...events].sort((a, b) => a.time - b.time))
    lists.set(one.person, [...(lists.get(one.person) ?? []), one]);
  return lists;
}

function reachedFrom(events: ToldEvent[], { steps, optional, order, windowMs }: NaiveSteps): number {
  const [first] = events;
  if (first === undefined) return 0;
  const within = events.filter(({ time }) => time - first.time <= windowMs);
  if (order === 'unordered')
    return new Set(within.map(({ event }) => event).filter((event) => steps.includes(event))).size;
  if (first.event !== steps[0]) return 0;
  let reached = 1;
  for (const { event } of within.slice(1)) {
    const next = steps.indexOf(event);
    const isNext = next >= reached && steps.slice(reached, next).every((step) => optional.includes(step));
    if (isNext) reached = next + 1;
    else if (order === 'strict' && event !== steps[reached - 1]) break;
  }
  return reached;
}

/** Rows of persons who did it on a day, and how many of them did it again so many days later. */
export function naiveRetention(
  { events, zone }: History,
  { event, from, to, columns }: { event: string; from: string; to: string; columns: number },
): number[][] {
  const days = intervalsBetween(from, to, 'day');
  const active = new Map(
    days.map((day) => [
      day,
      new Set(events.filter((one) => one.event === event && dayIn(zone, one.time) === day).map(({ person }) => person)),
    ]),
  );
  return days.map((day) => {
    const began = [...(active.get(day) ?? [])];
    return Array.from({ length: columns }, (_, later) =>
      later === 0 ? began.length : began.filter((person) => active.get(shifted(day, later))?.has(person)).length,
    );
  });
}

/** new, returning, resurrecting and dormant of each day. */
export function naiveLifecycle(
  { events, created, zone }: History,
  { event, from, to }: { event: string; from: string; to: string },
): number[][] {
  const days = intervalsBetween(from, to, 'day');
  const numbers = [0, 1, 2, 3].map(() => days.map(() => 0));
  const add = (status: number, day: string, by: number) => {
    const at = days.indexOf(day);
    const row = numbers[status];
    if (at >= 0 && row !== undefined) row[at] = (row[at] ?? 0) + by;
  };
  const before = shifted(from, -1);
  for (const [person, own] of byPerson(events.filter((one) => one.event === event))) {
    const active = [...new Set(own.map(({ time }) => dayIn(zone, time)))]
      .filter((day) => day >= before && day <= to)
      .sort();
    active.forEach((day, at) => {
      const isNew = at === 0 && dayIn(zone, created.get(person) ?? 0) === day;
      add(isNew ? 0 : active[at - 1] === shifted(day, -1) ? 1 : 2, day, 1);
      if (active[at + 1] !== shifted(day, 1)) add(3, shifted(day, 1), -1);
    });
  }
  return numbers;
}
