export { describeRule } from './describe-rule.ts';
export { type ExportInterval, exportIntervalAt, exportIntervals, type TimeSpan } from './export-interval.ts';
export { exportSpans } from './export-spans.ts';
export { nextDeliveryDate } from './next-delivery-date.ts';
export { type ExportSchedule, nextExportInterval } from './next-export-interval.ts';
export { type Frequency, frequencies, type RecurrenceRule, type Weekday, weekdays } from './recurrence-rule.ts';
export { isTimeZone, type TimeZone, timeZone } from './time-zone.ts';
