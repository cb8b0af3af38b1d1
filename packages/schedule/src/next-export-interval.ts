import { type ExportInterval, exportIntervalAt, type TimeSpan } from './export-interval.ts';

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
