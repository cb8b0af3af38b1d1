import { timeZone } from './time-zone.ts';

export const frequencies = ['daily', 'weekly', 'monthly', 'yearly'] as const;
export type Frequency = (typeof frequencies)[number];

/** Monday first, as weeks begin here (docs/api/subscriptions.md#delivery-dates). */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof weekdays)[number];

/** When something happens again and again: the part of RFC 5545 a subscription can say. */
export interface RecurrenceRule {
  frequency: Frequency;
  /** Every how many days, weeks, months or years; at least 1. */
  interval: number;
  /** Null or empty: the day follows from `startDate`. */
  byweekday: readonly Weekday[] | null;
  /** The n-th day of each period's set, from its end when negative. Without weekdays it means nothing. */
  bysetpos: number | null;
  /** How many times in all, counted from `startDate`. */
  count: number | null;
  /** Also the time of day. Fractions of a second are dropped. */
  startDate: Date;
  /** The last moment at which it may happen. */
  untilDate: Date | null;
}

const units: Record<Frequency, string> = { daily: 'day', weekly: 'week', monthly: 'month', yearly: 'year' };
const ordinals: Record<number, string> = { 1: 'first', 2: 'second', 3: 'third', 4: 'fourth', [-1]: 'last' };

/** A rule in plain words, as existing clients know them (docs/api/subscriptions.md#delivery-dates). */
export function describeRule({
  frequency,
  interval,
  byweekday,
  bysetpos,
}: Pick<RecurrenceRule, 'frequency' | 'interval' | 'byweekday' | 'bysetpos'>): string {
  const unit = units[frequency];
  const every = `sent every ${interval > 1 ? `${interval} ${unit}s` : unit}`;
  if (!byweekday?.length || bysetpos === null) return every;
  const ordinal = ordinals[bysetpos];
  return ordinal === undefined ? 'sent on a schedule' : `${every} on the ${ordinal} ${dayWord(byweekday)}`;
}

function dayWord(byweekday: readonly Weekday[]): string {
  const [only, ...others] = byweekday;
  return only !== undefined && others.length === 0 ? only.charAt(0).toUpperCase() + only.slice(1) : 'day';
}

/** A subscription that is created less than this before a delivery date starts with the next date (docs/api/subscriptions.md#delivery-dates). */
const noticeMs = 15 * 60_000;

/**
 * When a subscription is delivered next: the rule's first occurrence that is more than 15 minutes away and later than
 * `previous`, null when there is none.
 *
 * @param previous the date that has just been delivered; null when the rule is new or has changed.
 * @param timeZone IANA name of the project's zone; its clocks tell days and the time of day.
 */
export function nextDeliveryDate(
  rule: RecurrenceRule,
  { now, previous, timeZone }: { now: Date; previous: Date | null; timeZone: string },
): Date | null {
  const after = Math.max(now.getTime() + noticeMs, previous?.getTime() ?? Number.NEGATIVE_INFINITY);
  return nextOccurrence(rule, new Date(after), timeZone);
}

const dayMs = 86_400_000;
const lastDay = dayOf(9999, 11, 31);

/**
 * The first occurrence of a rule strictly after a moment, null when there is none (RFC 5545 section 3.3.10; weeks begin on
 * Monday). Days and the time of day are those of the time zone's clocks: 9 o'clock stays 9 o'clock in summer.
 *
 * The libraries looked at either ignore time zones or walk from the start of the rule through every occurrence, for
 * seconds or without an end when the start is long ago; this one goes straight to the period in question.
 *
 * @param zoneName IANA name.
 */
export function nextOccurrence(rule: RecurrenceRule, after: Date, zoneName: string): Date | null {
  if (rule.count !== null && rule.count <= 0) return null;
  const zone = timeZone(zoneName);
  const start = Math.floor(rule.startDate.getTime() / 1000) * 1000;
  const startWallTime = zone.toWallTime(start);
  const startDay = Math.floor(startWallTime / dayMs);
  const timeOfDay = startWallTime - startDay * dayMs;
  // The start may be the second of two moments at which the clocks showed its time.
  const instantOf = (day: Day) => (day === startDay ? start : zone.toInstant(day * dayMs + timeOfDay));
  const afterDay = Math.floor(zone.toWallTime(after.getTime()) / dayMs);

  for (const day of candidateDays(rule, startDay, afterDay)) {
    const instant = instantOf(day);
    if (rule.untilDate !== null && instant > rule.untilDate.getTime()) return null;
    if (instant > after.getTime()) return new Date(instant);
  }
  return null;
}

/**
 * The rule's days from its start on, as far as they may lie after `afterDay`: the day before it is included, because
 * clocks that change can move a time across midnight.
 */
function* candidateDays(rule: RecurrenceRule, startDay: Day, afterDay: Day): Generator<Day> {
  const periods = periodsOf(rule, startDay);
  const first = periods.numberOf(startDay);
  const steps = Math.floor((periods.numberOf(afterDay) - first) / rule.interval) - 1;
  // A rule that counts has to be counted from its start; the others may begin anywhere.
  let period = rule.count === null ? first + Math.max(0, steps) * rule.interval : first;
  let left = rule.count ?? Number.POSITIVE_INFINITY;
  const end = periods.numberOf(lastDay);
  for (let empty = 0; period <= end && empty <= cycle[rule.frequency]; period += rule.interval) {
    empty += 1;
    for (const day of periods.daysOf(period)) {
      if (day < startDay || day > lastDay) continue;
      empty = 0;
      if (day >= afterDay - 1) yield day;
      left -= 1;
      if (left === 0) return;
    }
  }
}

/** After so many periods the calendar repeats itself: a rule that found no day among them will find none. */
const cycle: Record<Frequency, number> = { daily: 7, weekly: 1, monthly: 4800, yearly: 400 };

/** The days, weeks, months or years a rule counts in, numbered; a rule uses every `interval`-th from its start's on. */
interface Periods {
  /** Number of the period a day lies in. */
  numberOf(day: Day): number;
  /** The days of one period on which the rule holds, in order; some may lie before the start. */
  daysOf(period: number): readonly Day[];
}

/**
 * How a rule divides time, given the day on which it starts (RFC 5545 section 3.3.10,
 * docs/api/subscriptions.md#delivery-dates).
 */
function periodsOf(rule: RecurrenceRule, startDay: Day): Periods {
  const byweekday = rule.byweekday?.length ? weekdayIndexes(rule.byweekday) : null;
  const { numberOf, daysOf } = undivided(rule.frequency, startDay, byweekday);
  const { bysetpos } = rule;
  // Without weekdays a position picks from nothing, and clients send one without meaning it.
  if (byweekday === null || bysetpos === null) return { numberOf, daysOf };
  return {
    numberOf,
    daysOf(period) {
      const day = bysetpos === 0 ? undefined : daysOf(period).at(bysetpos > 0 ? bysetpos - 1 : bysetpos);
      return day === undefined ? [] : [day];
    },
  };
}

function undivided(frequency: Frequency, startDay: Day, byweekday: ReadonlySet<number> | null): Periods {
  const start = calendarDate(startDay);
  switch (frequency) {
    case 'daily':
      return {
        numberOf: (day) => day,
        daysOf: (day) => (byweekday === null || byweekday.has(weekdayIndex(day)) ? [day] : []),
      };
    case 'weekly': {
      const chosen = byweekday ?? new Set([weekdayIndex(startDay)]);
      // 29 December 1969 was a Monday.
      const firstDayOf = (week: number) => week * 7 - 3;
      return {
        numberOf: (day) => Math.floor((day + 3) / 7),
        daysOf: (week) => daysOnWeekdays(firstDayOf(week), firstDayOf(week + 1), chosen),
      };
    }
    case 'monthly': {
      const firstDayOf = (month: number) => dayOf(Math.floor(month / 12), ((month % 12) + 12) % 12, 1);
      return {
        numberOf: (day) => {
          const { year, month } = calendarDate(day);
          return year * 12 + month;
        },
        daysOf: (month) =>
          byweekday === null
            ? within(firstDayOf(month) + start.dayOfMonth - 1, firstDayOf(month + 1))
            : daysOnWeekdays(firstDayOf(month), firstDayOf(month + 1), byweekday),
      };
    }
    case 'yearly':
      return {
        numberOf: (day) => calendarDate(day).year,
        daysOf: (year) =>
          byweekday === null
            ? within(dayOf(year, start.month, 1) + start.dayOfMonth - 1, dayOf(year, start.month + 1, 1))
            : daysOnWeekdays(dayOf(year, 0, 1), dayOf(year + 1, 0, 1), byweekday),
      };
  }
}

/** A month without this day is passed over: 31 April is not 1 May. */
function within(day: Day, end: Day): Day[] {
  return day < end ? [day] : [];
}

/** A calendar day as the number of days since 1 January 1970; without a time zone. */
type Day = number;

function dayOf(year: number, month: number, dayOfMonth: number): Day {
  const date = new Date(0);
  date.setUTCFullYear(year, month, dayOfMonth);
  return date.getTime() / dayMs;
}

/** Month from 0. */
function calendarDate(day: Day): { year: number; month: number; dayOfMonth: number } {
  const date = new Date(day * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), dayOfMonth: date.getUTCDate() };
}

/** 0 is Monday. 1 January 1970 was a Thursday. */
function weekdayIndex(day: Day): number {
  return (((day + 3) % 7) + 7) % 7;
}

/** The days from `first` up to and without `end` that fall on one of the weekdays, in order. */
function daysOnWeekdays(first: Day, end: Day, chosen: ReadonlySet<number>): Day[] {
  const days: Day[] = [];
  for (let day = first; day < end; day += 1) if (chosen.has(weekdayIndex(day))) days.push(day);
  return days;
}

function weekdayIndexes(names: readonly Weekday[]): ReadonlySet<number> {
  return new Set(names.map((name) => weekdays.indexOf(name)));
}
