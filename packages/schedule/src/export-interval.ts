import { timeZone } from './time-zone.ts';

/** How often a batch export runs, and how much each run covers (docs/api-rules.md#batch-exports). */
export const exportIntervals = ['hour', 'day', 'week', 'every 5 minutes', 'every 15 minutes'] as const;
export type ExportInterval = (typeof exportIntervals)[number];

/** From `start` up to and without `end`. */
export interface TimeSpan {
  start: Date;
  end: Date;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** 1 January 1970 was a Thursday; weeks begin on Monday. */
const weekOffsetDays = 3;

const fixedMs: Partial<Record<ExportInterval, number>> = {
  hour: 60 * minuteMs,
  'every 5 minutes': 5 * minuteMs,
  'every 15 minutes': 15 * minuteMs,
};
const daysOf: Partial<Record<ExportInterval, number>> = { day: 1, week: 7 };

/**
 * The interval a moment lies in. Intervals follow each other without gap or overlap: hours and minutes begin when UTC's do,
 * days at midnight of the zone's clocks (so that one a year has 23 hours and one 25), weeks on Monday.
 *
 * @param zoneName IANA name; the interval that follows is the one that holds `end`.
 */
export function exportIntervalAt(interval: ExportInterval, moment: Date, zoneName: string): TimeSpan {
  const lengthMs = fixedMs[interval];
  if (lengthMs !== undefined) {
    const start = Math.floor(moment.getTime() / lengthMs) * lengthMs;
    return { start: new Date(start), end: new Date(start + lengthMs) };
  }
  const days = daysOf[interval] ?? 1;
  const offset = days === 7 ? weekOffsetDays : 0;
  const zone = timeZone(zoneName);
  const today = Math.floor(zone.toWallTime(moment.getTime()) / dayMs);
  const first = Math.floor((today + offset) / days) * days - offset;
  const midnight = (day: number) => new Date(zone.toInstant(day * dayMs));
  return { start: midnight(first), end: midnight(first + days) };
}
