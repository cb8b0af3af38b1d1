import { type Day, dayOf } from './calendar.ts';
import { periodsOf } from './periods.ts';
import type { Frequency, RecurrenceRule } from './recurrence-rule.ts';
import { timeZone } from './time-zone.ts';

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
