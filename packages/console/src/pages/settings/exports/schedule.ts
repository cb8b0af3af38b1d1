// Computes how often exports run, and when their intervals begin and end.

import { fromLocalTime, toLocalTime } from '../../../parts/time.ts';

export type Interval = 'hour' | 'day' | 'week' | 'every 5 minutes' | 'every 15 minutes';
export const intervals: readonly Interval[] = ['every 5 minutes', 'every 15 minutes', 'hour', 'day', 'week'];

export const hasDays = (interval: Interval) => interval === 'day' || interval === 'week';

export interface ExportSchedule {
  interval: Interval;
  timezone: string;
  /** First day of a week, where 0 is Sunday. Null means Monday. */
  offset_day: number | null;
  /** Hour at which days and weeks begin. Null means midnight. */
  offset_hour: number | null;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const fixedMs: Partial<Record<Interval, number>> = {
  'every 5 minutes': 5 * minuteMs,
  'every 15 minutes': 15 * minuteMs,
  hour: 60 * minuteMs,
};

/**
 * Returns the latest completed interval. This is an estimate, because the server determines the exact range of a run.
 */
export function findLastInterval(
  { interval, timezone, offset_day, offset_hour }: ExportSchedule,
  now = new Date(),
): { start: string; end: string } {
  const length = fixedMs[interval];
  if (length !== undefined) {
    const end = Math.floor(now.getTime() / length) * length;
    return { start: new Date(end - length).toISOString(), end: new Date(end).toISOString() };
  }
  const hours = (offset_hour ?? 0) * 60 * minuteMs;
  const begin = (day: number) => fromLocalTime(new Date(day + hours).toISOString().slice(0, 19), timezone);
  const today = Date.parse(`${toLocalTime(now, timezone).slice(0, 10)}T00:00:00Z`);
  const daysSinceFirst = interval === 'week' ? (new Date(today).getUTCDay() - (offset_day ?? 1) + 7) % 7 : 0;
  const lengthMs = (interval === 'week' ? 7 : 1) * dayMs;
  const first = today - daysSinceFirst * dayMs;
  const end = Date.parse(begin(first)) > now.getTime() ? first - lengthMs : first;
  return { start: begin(end - lengthMs), end: begin(end) };
}

/** Returns the last `count` days before today in a time zone. */
export function getLastDays(count: number, zone: string, now = new Date()): { start: string; end: string } {
  const today = Date.parse(`${toLocalTime(now, zone).slice(0, 10)}T00:00:00Z`);
  return { start: midnight(today - count * dayMs, zone), end: midnight(today, zone) };
}

const midnight = (day: number, zone: string) => fromLocalTime(new Date(day).toISOString().slice(0, 19), zone);
