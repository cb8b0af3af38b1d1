export { describeRule } from './describe-rule.ts';
export { nextDeliveryDate } from './next-delivery-date.ts';
export { type Frequency, frequencies, type RecurrenceRule, type Weekday, weekdays } from './recurrence-rule.ts';
export { isTimeZone } from './time-zone.ts';
