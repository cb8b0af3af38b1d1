import { type Weekday, weekdays } from './recurrence-rule.ts';

const dayMs = 86_400_000;

/** A calendar day as the number of days since 1 January 1970; without a time zone. */
export type Day = number;

export function dayOf(year: number, month: number, dayOfMonth: number): Day {
  const date = new Date(0);
  date.setUTCFullYear(year, month, dayOfMonth);
  return date.getTime() / dayMs;
}

/** Month from 0. */
export function calendarDate(day: Day): { year: number; month: number; dayOfMonth: number } {
  const date = new Date(day * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), dayOfMonth: date.getUTCDate() };
}

/** 0 is Monday. 1 January 1970 was a Thursday. */
export function weekdayIndex(day: Day): number {
  return (((day + 3) % 7) + 7) % 7;
}

/** The days from `first` up to and without `end` that fall on one of the weekdays, in order. */
export function daysOnWeekdays(first: Day, end: Day, chosen: ReadonlySet<number>): Day[] {
  const days: Day[] = [];
  for (let day = first; day < end; day += 1) if (chosen.has(weekdayIndex(day))) days.push(day);
  return days;
}

export function weekdayIndexes(names: readonly Weekday[]): ReadonlySet<number> {
  return new Set(names.map((name) => weekdays.indexOf(name)));
}
