import { nextOccurrence } from './next-occurrence.ts';
import type { RecurrenceRule } from './recurrence-rule.ts';

/** Whoever makes a subscription a moment before it is due gets the next one (docs/api-rules.md#dates-of-delivery). */
const noticeMs = 15 * 60_000;

/**
 * When a subscription is delivered next: the rule's first occurrence that is more than 15 minutes away and later than
 * `previous`, null when there is none.
 *
 * @param previous the date that has just been delivered; null when the rule is new or has changed.
 * @param timeZone IANA name of the project's zone; its clocks tell days and the time of day.
 */
export function nextDeliveryDate(
  rule: RecurrenceRule,
  { now, previous, timeZone }: { now: Date; previous: Date | null; timeZone: string },
): Date | null {
  const after = Math.max(now.getTime() + noticeMs, previous?.getTime() ?? Number.NEGATIVE_INFINITY);
  return nextOccurrence(rule, new Date(after), timeZone);
}
