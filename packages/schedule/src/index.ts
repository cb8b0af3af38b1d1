export {
  type ExportInterval,
  type ExportRhythm,
  type ExportSchedule,
  exportIntervals,
  findExportInterval,
  nextExportInterval,
  splitIntoExportSpans,
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
export { createTimeZone, isTimeZone, listOffsetSpans, type OffsetSpan, type TimeZone } from './time-zone.ts';
