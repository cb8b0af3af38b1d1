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

export interface ExportSchedule {
  interval: ExportInterval;
  /** IANA name. */
  timezone: string;
  /** No run is triggered before this time. */
  start_at: Date | null;
  /** No run is triggered after this time. */
  end_at: Date | null;
}

/**
 * The interval an export covers next, when everything before `from` is done or does not matter. Its run is triggered at
 * its end. Null when that would be after `end_at`.
 */
export function nextExportInterval(schedule: ExportSchedule, from: Date): TimeSpan | null {
  const { interval, timezone, start_at, end_at } = schedule;
  const moment = start_at !== null && start_at > from ? start_at : from;
  const span = exportIntervalAt(interval, moment, timezone);
  return end_at !== null && span.end > end_at ? null : span;
}

/** What the runs of an export cover that begin within a range: whole intervals, but for the first and the last, which are cut to it. */
export function* exportSpans(
  { start: from, end: until }: TimeSpan,
  { interval, timezone }: { interval: ExportInterval; timezone: string },
): Generator<TimeSpan> {
  for (let start = from; start < until; ) {
    const whole = exportIntervalAt(interval, start, timezone);
    const end = whole.end < until ? whole.end : until;
    yield { start, end };
    start = end;
  }
}
