// Computes the time intervals that a batch export's runs cover.

import { createTimeZone } from './time-zone.ts';

/** How often a batch export runs. Each run covers a time range of the same length (docs/api/batch-exports.md). */
export const exportIntervals = ['hour', 'day', 'week', 'every 5 minutes', 'every 15 minutes'] as const;
export type ExportInterval = (typeof exportIntervals)[number];

/** A time range that includes `start` and excludes `end`. */
export interface TimeSpan {
  start: Date;
  end: Date;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Days of the week as numbers, starting with 0 for Sunday. 1 January 1970 was a Thursday. */
const [monday, thursday] = [1, 4];

const fixedMs: Partial<Record<ExportInterval, number>> = {
  hour: 60 * minuteMs,
  'every 5 minutes': 5 * minuteMs,
  'every 15 minutes': 15 * minuteMs,
};
const daysOf: Partial<Record<ExportInterval, number>> = { day: 1, week: 7 };

export interface ExportRhythm {
  interval: ExportInterval;
  timezone: string;
  /** First day of the week, from 0 for Sunday to 6 for Saturday. Null means Monday. */
  offset_day: number | null;
  /** Hour at which days and weeks begin, from 0 to 23. Null means midnight. */
  offset_hour: number | null;
}

/**
 * Returns the interval that contains a moment. Intervals follow each other without a gap or an overlap. Intervals of
 * hours and minutes begin at UTC boundaries. Intervals of days and weeks begin at an hour of local time, so with
 * daylight saving time, one day a year has 23 hours and one has 25. The next interval is the one that contains `end`.
 * @param rhythm the rhythm, in which `timezone` is an IANA name
 */
export function findExportInterval(rhythm: ExportRhythm, moment: Date): TimeSpan {
  const { interval, timezone, offset_day, offset_hour } = rhythm;
  const lengthMs = fixedMs[interval];
  if (lengthMs !== undefined) {
    const start = Math.floor(moment.getTime() / lengthMs) * lengthMs;
    return { start: new Date(start), end: new Date(start + lengthMs) };
  }
  const days = daysOf[interval] ?? 1;
  const firstDay = days === 7 ? (offset_day ?? monday) - thursday : 0;
  const zone = createTimeZone(timezone);
  const begin = (day: number) => new Date(zone.toInstant(day * dayMs + (offset_hour ?? 0) * 60 * minuteMs));
  const today = Math.floor(zone.toWallTime(moment.getTime()) / dayMs);
  let day = Math.floor((today - firstDay) / days) * days + firstDay;
  // Compare instants and not local times, because the local start time moves if daylight saving time skips it.
  if (begin(day) > moment) day -= days;
  return { start: begin(day), end: begin(day + days) };
}

export interface ExportSchedule extends ExportRhythm {
  /** No run is triggered before this time. */
  start_at: Date | null;
  /** No run is triggered after this time. */
  end_at: Date | null;
}

/**
 * Returns the next interval that an export covers, if everything before `from` is already exported or not needed. The
 * interval's run is triggered at its end. Returns null if that time is after `end_at`.
 * @param exportedUntil the end of the last exported interval, which may have had a different length. If it is within
 * the next interval, that interval starts there, so that no event is exported twice.
 */
export function nextExportInterval(
  schedule: ExportSchedule,
  from: Date,
  exportedUntil: Date | null = null,
): TimeSpan | null {
  const { start_at, end_at } = schedule;
  const moment = start_at !== null && start_at > from ? start_at : from;
  const { start, end } = findExportInterval(schedule, moment);
  if (end_at !== null && end > end_at) return null;
  const isWithin = exportedUntil !== null && exportedUntil > start && exportedUntil < end;
  return { start: isWithin ? exportedUntil : start, end };
}

/**
 * Splits a range into the time spans of export runs. Each run covers one interval. The first and the last span are
 * trimmed to the range.
 */
export function* splitIntoExportSpans(
  { start: from, end: until }: TimeSpan,
  rhythm: ExportRhythm,
): Generator<TimeSpan> {
  for (let start = from; start < until; ) {
    const whole = findExportInterval(rhythm, start);
    const end = whole.end < until ? whole.end : until;
    yield { start, end };
    start = end;
  }
}
