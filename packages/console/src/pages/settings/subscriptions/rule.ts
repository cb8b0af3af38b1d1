// Describes a report schedule in words, and converts it to and from form fields.

import { formatDay, toLocalTime } from '../../../parts/time.ts';
import { type Frequency, type Rule, type Weekday, weekdays } from './subscription.ts';
import { text } from './words.ts';

const { every } = text;
const workdays = weekdays.slice(0, 5);

/**
 * Describes a schedule in words, for example as `every second Monday at 09:00 Europe/Berlin`, in the project time zone.
 */
export function describeRule(rule: Rule, zone: string): string {
  const local = toLocalTime(new Date(rule.start_date), zone);
  const words = every.at(datesInWords(rule, local), local.slice(11, 16), zone);
  const count = rule.count === null ? '' : every.times(rule.count);
  const until = rule.until_date === null ? '' : every.until(formatDay(rule.until_date, zone));
  return words + count + until;
}

/**
 * Describes the days of a schedule in words.
 * @param local the first delivery in the project time zone, which determines the day if the schedule does not
 */
function datesInWords({ frequency, interval, byweekday, bysetpos }: Rule, local: string): string {
  const days = byweekday ?? [];
  const period = every.nth(interval, every.unit(frequency));
  const names = every.list(days.map((day) => text.weekdays[day]));
  if (days.length > 0 && bysetpos !== null && bysetpos !== 0)
    return every.on(every.the(every.position(bysetpos), dayInWords(days)), period);
  const date = new Date(`${local.slice(0, 10)}T00:00:00Z`);
  switch (frequency) {
    case 'daily':
      if (days.length === 0) return period;
      return interval === 1 ? every.nth(1, names) : period + every.only(names);
    case 'weekly': {
      const [only = weekdays[(date.getUTCDay() + 6) % 7] ?? 'monday', ...others] = days;
      if (others.length === 0 && interval <= 4) return every.nth(interval, text.weekdays[only]);
      return interval === 1 ? every.nth(1, names) : every.on(days.length === 0 ? text.weekdays[only] : names, period);
    }
    case 'monthly':
      return every.on(days.length === 0 ? every.monthDay(date.getUTCDate()) : every.each(dayInWords(days)), period);
    case 'yearly':
      return every.on(days.length === 0 ? monthAndDay(date) : every.each(dayInWords(days)), period);
  }
}

const monthAndDay = (date: Date) =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' }).format(date);

function dayInWords(days: readonly Weekday[]): string {
  const group = groupOf(days);
  if (group === 'day' || group === 'workday') return text.groups[group];
  return every.list(days.map((day) => text.weekdays[day]));
}

export type DayGroup = Weekday | 'day' | 'workday';
export const dayGroups: readonly DayGroup[] = ['day', 'workday', ...weekdays];

export const positions = ['date', 'end', '1', '2', '3', '4', '-1', 'each'] as const;

/**
 * Returns the positions within a period that the form offers. `end` is the last day of a month, which the API stores as
 * the last of all weekdays.
 */
export const listPositions = (frequency: Frequency) =>
  positions.filter((position) => position !== 'end' || frequency === 'monthly');

/**
 * A schedule in the form. Daily and weekly schedules use `days`. Monthly and yearly schedules use `position` and
 * `group`.
 */
export interface Draft {
  frequency: Frequency;
  interval: number;
  days: readonly Weekday[];
  /**
   * Position of the day within the month or year. `kept` stands for a stored schedule that the form cannot express and
   * does not change.
   */
  position: (typeof positions)[number] | 'kept';
  group: DayGroup;
}

export const newDraft: Draft = {
  frequency: 'weekly',
  interval: 1,
  days: ['monday'],
  position: 'date',
  group: 'monday',
};

export function toDraft({ frequency, interval, byweekday, bysetpos }: Rule): Draft {
  const days = byweekday ?? [];
  const group = groupOf(days);
  const isMonthEnd = frequency === 'monthly' && group === 'day' && bysetpos === -1;
  const position = isMonthEnd
    ? 'end'
    : days.length === 0
      ? 'date'
      : positions.find((one) => one === String(bysetpos ?? 'each'));
  const isOfDays = frequency === 'daily' || frequency === 'weekly';
  const isKnown = isOfDays
    ? days.length === 0 || bysetpos === null
    : position !== undefined && (days.length === 0 || group);
  return { frequency, interval, days, position: isKnown ? (position ?? 'date') : 'kept', group: group ?? 'monday' };
}

/** Returns the fields that determine a schedule's days. Returns an empty object if the position is `kept`. */
export function toDayFields({
  frequency,
  days,
  position,
  group,
}: Draft): Partial<Pick<Rule, 'byweekday' | 'bysetpos'>> {
  if (position === 'kept') return {};
  if (frequency === 'daily' || frequency === 'weekly')
    return { byweekday: days.length === 0 ? null : [...days], bysetpos: null };
  if (position === 'date') return { byweekday: null, bysetpos: null };
  if (position === 'end') return { byweekday: [...weekdays], bysetpos: -1 };
  return { byweekday: daysOfGroup(group), bysetpos: position === 'each' ? null : Number(position) };
}

function daysOfGroup(group: DayGroup): Weekday[] {
  if (group === 'day') return [...weekdays];
  return group === 'workday' ? workdays : [group];
}

function groupOf(days: readonly Weekday[]): DayGroup | undefined {
  return dayGroups.find((group) => {
    const own = daysOfGroup(group);
    return own.length === days.length && own.every((day) => days.includes(day));
  });
}
