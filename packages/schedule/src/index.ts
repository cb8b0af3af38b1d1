export {
  type ExportInterval,
  type ExportRhythm,
  type ExportSchedule,
  exportIntervalAt,
  exportIntervals,
  exportSpans,
  nextExportInterval,
  type TimeSpan,
} from './export-interval.ts';
export {
  describeRule,
  type Frequency,
  frequencies,
  nextDeliveryDate,
  type RecurrenceRule,
  type Weekday,
  weekdays,
} from './rule.ts';
export { createTimeZone, isTimeZone, type OffsetSpan, offsetSpans, type TimeZone } from './time-zone.ts';
