// Computes when a subscription's reports are due, from rules such as "every second Monday".

import { createTimeZone } from './time-zone.ts';

export const frequencies = ['daily', 'weekly', 'monthly', 'yearly'] as const;
export type Frequency = (typeof frequencies)[number];

/** Monday comes first, because weeks begin on Monday in Millrace (docs/api/subscriptions.md#delivery-dates). */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof weekdays)[number];

/** A recurrence rule, with the properties of RFC 5545 that subscriptions support. */
export interface RecurrenceRule {
  frequency: Frequency;
  /** Number of days, weeks, months or years between occurrences, at least 1. */
  interval: number;
  /** The weekdays on which occurrences fall. If null or empty, `startDate` determines the day. */
  byweekday: readonly Weekday[] | null;
  /** Selects the n-th matching day of each period (from the end if negative). Ignored without `byweekday`. */
  bysetpos: number | null;
  /** Total number of occurrences, counted from `startDate`. */
  count: number | null;
  /** First day of the schedule, and the time of day of all occurrences. Fractions of a second are dropped. */
  startDate: Date;
  untilDate: Date | null;
}

const units: Record<Frequency, string> = { daily: 'day', weekly: 'week', monthly: 'month', yearly: 'year' };
const ordinals: Record<number, string> = { 1: 'first', 2: 'second', 3: 'third', 4: 'fourth', [-1]: 'last' };

/** Describes a rule in the words that existing clients expect (docs/api/subscriptions.md#delivery-dates). */
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

/**
 * A subscription that is created less than this time (in milliseconds) before a delivery date skips that date
 * (docs/api/subscriptions.md#delivery-dates).
 */
const noticeMs = 15 * 60_000;

/**
 * Returns a subscription's next delivery date: the first occurrence of its rule that is more than 15 minutes in the
 * future and later than `previous`. Returns null if the rule has no more occurrences.
 * @param previous the date of the last delivery, or null if the rule is new or has changed
 * @param timeZone the IANA name of the project time zone, which determines days and the time of day
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
 * Returns a rule's first occurrence strictly after a moment, or null if there are no more (RFC 5545 section 3.3.10,
 * with weeks that begin on Monday). Days and the time of day are local to the time zone, so 9 o'clock stays 9 o'clock
 * during daylight saving time.
 *
 * The libraries we evaluated either ignore time zones or iterate over every occurrence from the start of the rule. If
 * the start is long ago, this takes seconds or never ends. This implementation goes directly to the relevant period.
 *
 * @param zoneName the IANA name of the time zone
 */
export function nextOccurrence(rule: RecurrenceRule, after: Date, zoneName: string): Date | null {
  if (rule.count !== null && rule.count <= 0) return null;
  const zone = createTimeZone(zoneName);
  const start = Math.floor(rule.startDate.getTime() / 1000) * 1000;
  const startWallTime = zone.toWallTime(start);
  const startDay = Math.floor(startWallTime / dayMs);
  const timeOfDay = startWallTime - startDay * dayMs;
  // The start may be the later of two instants with the same local time, which `toInstant` would not return.
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
 * Yields the days of a rule on which an occurrence can be after `afterDay`, including the day before `afterDay`,
 * because a change of the UTC offset can move a time across midnight.
 */
function* candidateDays(rule: RecurrenceRule, startDay: Day, afterDay: Day): Generator<Day> {
  const periods = periodsOf(rule, startDay);
  const first = periods.numberOf(startDay);
  const steps = Math.floor((periods.numberOf(afterDay) - first) / rule.interval) - 1;
  // For a rule with a count, count all occurrences from its start. For all other rules, skip earlier periods.
  let period = rule.count === null ? first + Math.max(0, steps) * rule.interval : first;
  let remaining = rule.count ?? Number.POSITIVE_INFINITY;
  const end = periods.numberOf(lastDay);
  for (let empty = 0; period <= end && empty <= cycle[rule.frequency]; period += rule.interval) {
    empty += 1;
    for (const day of periods.daysOf(period)) {
      if (day < startDay || day > lastDay) continue;
      empty = 0;
      if (day >= afterDay - 1) yield day;
      remaining -= 1;
      if (remaining === 0) return;
    }
  }
}

/** Number of periods after which the calendar repeats. A rule without a match in this time never matches. */
const cycle: Record<Frequency, number> = { daily: 7, weekly: 1, monthly: 4800, yearly: 400 };

/**
 * The days, weeks, months or years that a rule uses, identified by numbers. They are every `interval`-th period,
 * beginning with the period that contains the rule's start.
 */
interface Periods {
  numberOf(day: Day): number;
  /** Returns a period's matching days in order. They may include days before the rule's start. */
  daysOf(period: number): readonly Day[];
}

/** Divides time into a rule's periods (RFC 5545 section 3.3.10, docs/api/subscriptions.md#delivery-dates). */
function periodsOf(rule: RecurrenceRule, startDay: Day): Periods {
  const byweekday = rule.byweekday?.length ? weekdayIndexes(rule.byweekday) : null;
  const { numberOf, daysOf } = undivided(rule.frequency, startDay, byweekday);
  const { bysetpos } = rule;
  // Ignore `bysetpos` without weekdays, because some clients always send `bysetpos`.
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

/** Omits days after the end of their month, so that 31 April does not become 1 May. */
function within(day: Day, end: Day): Day[] {
  return day < end ? [day] : [];
}

/** Number of days since 1 January 1970, without a time zone. */
type Day = number;

function dayOf(year: number, month: number, dayOfMonth: number): Day {
  const date = new Date(0);
  date.setUTCFullYear(year, month, dayOfMonth);
  return date.getTime() / dayMs;
}

/** Converts a day number to a calendar date, with months from 0 (January) to 11. */
function calendarDate(day: Day): { year: number; month: number; dayOfMonth: number } {
  const date = new Date(day * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), dayOfMonth: date.getUTCDate() };
}

/** Returns a day's weekday, from 0 (Monday) to 6. 1 January 1970 was a Thursday. */
function weekdayIndex(day: Day): number {
  return (((day + 3) % 7) + 7) % 7;
}

/** Returns the days from `first` to `end` (exclusive) that fall on one of the chosen weekdays, in order. */
function daysOnWeekdays(first: Day, end: Day, chosen: ReadonlySet<number>): Day[] {
  const days: Day[] = [];
  for (let day = first; day < end; day += 1) if (chosen.has(weekdayIndex(day))) days.push(day);
  return days;
}

function weekdayIndexes(names: readonly Weekday[]): ReadonlySet<number> {
  return new Set(names.map((name) => weekdays.indexOf(name)));
}
