import { calendarDate, type Day, dayOf, daysOnWeekdays, weekdayIndex, weekdayIndexes } from './calendar.ts';
import type { Frequency, RecurrenceRule } from './recurrence-rule.ts';

/** The days, weeks, months or years a rule counts in, numbered; a rule uses every `interval`-th from its start's on. */
export interface Periods {
  /** Number of the period a day lies in. */
  numberOf(day: Day): number;
  /** The days of one period on which the rule holds, in order; some may lie before the start. */
  daysOf(period: number): readonly Day[];
}

/**
 * How a rule divides time, given the day on which it starts (RFC 5545 section 3.3.10,
 * docs/api-rules.md#dates-of-delivery).
 */
export function periodsOf(rule: RecurrenceRule, startDay: Day): Periods {
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
