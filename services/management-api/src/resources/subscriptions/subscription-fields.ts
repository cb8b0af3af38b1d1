import type { SubscriptionTargetType } from '@millrace/contracts';
import { nextDeliveryDate, type RecurrenceRule } from '@millrace/schedule';
import type { Static } from 'typebox';
import type { newSubscription, subscriptionChanges } from './subscription-schema.ts';

/** What a caller decides of a subscription. */
export interface SubscriptionFields {
  dashboard: number | null;
  insight: number | null;
  target_type: SubscriptionTargetType;
  target_value: string;
  frequency: RecurrenceRule['frequency'];
  interval: number;
  byweekday: RecurrenceRule['byweekday'];
  bysetpos: number | null;
  count: number | null;
  start_date: Date;
  until_date: Date | null;
  deleted: boolean;
  title: string | null;
}

type Changes = Static<typeof subscriptionChanges>;

/** A new one with its defaults. */
export function fieldsOfNew(body: Static<typeof newSubscription>): SubscriptionFields {
  const defaults = {
    dashboard: null,
    insight: null,
    interval: 1,
    byweekday: null,
    bysetpos: null,
    count: null,
    until_date: null,
    deleted: false,
    title: null,
  };
  const { target_type, target_value, frequency, start_date } = body;
  return withChanges({ ...defaults, target_type, target_value, frequency, start_date: new Date(start_date) }, body);
}

/** What is not sent stays as it is. */
export function withChanges(fields: SubscriptionFields, changes: Changes): SubscriptionFields {
  const { start_date, until_date, invite_message: _, ...others } = changes;
  return {
    ...fields,
    ...others,
    start_date: start_date === undefined ? fields.start_date : new Date(start_date),
    until_date: until_date === undefined ? fields.until_date : until_date === null ? null : new Date(until_date),
  };
}

export function ruleOf(fields: SubscriptionFields): RecurrenceRule {
  const { frequency, interval, byweekday, bysetpos, count, start_date, until_date } = fields;
  return { frequency, interval, byweekday, bysetpos, count, startDate: start_date, untilDate: until_date };
}

/**
 * The next date of a changed subscription: it moves when the rule does, not with title or target
 * (docs/api-rules.md#dates-of-delivery). One that comes back from deletion does not make up for what it has missed.
 */
export function nextDateOfChanged(
  before: SubscriptionFields & { next_delivery_date: Date | null },
  after: SubscriptionFields,
  { now, timeZone }: { now: Date; timeZone: string },
): Date | null {
  const isSameRule = JSON.stringify(ruleOf(before)) === JSON.stringify(ruleOf(after));
  const isMissed =
    before.deleted && !after.deleted && before.next_delivery_date !== null && before.next_delivery_date < now;
  if (isSameRule && !isMissed) return before.next_delivery_date;
  return nextDeliveryDate(ruleOf(after), { now, previous: null, timeZone });
}
