// Validates the subscription fields that callers set.

import { isMasked, listSubscriptionTargets, type SubscriptionTargetType } from '@millrace/contracts';
import type { Columns } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { nextDeliveryDate, type RecurrenceRule } from '@millrace/schedule';
import type { Static } from 'typebox';
import type { newSubscription, subscriptionChanges } from './schema.ts';

export interface SubscriptionFields
  extends Columns<
    'subscription',
    | 'dashboard'
    | 'insight'
    | 'target_type'
    | 'target_value'
    | 'frequency'
    | 'interval'
    | 'bysetpos'
    | 'count'
    | 'start_date'
    | 'until_date'
    | 'deleted'
    | 'title'
    | 'enabled'
    | 'dashboard_export_insights'
  > {
  target_type: SubscriptionTargetType;
  frequency: RecurrenceRule['frequency'];
  byweekday: RecurrenceRule['byweekday'];
}

type Changes = Static<typeof subscriptionChanges>;

export function fillSubscriptionDefaults(body: Static<typeof newSubscription>): SubscriptionFields {
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
    enabled: true,
    dashboard_export_insights: [],
  };
  const { target_type, target_value, frequency, start_date } = body;
  return applySubscriptionChanges(
    { ...defaults, target_type, target_value, frequency, start_date: new Date(start_date) },
    body,
  );
}

/** Applies changes to the fields. Undefined fields remain unchanged. */
export function applySubscriptionChanges(fields: SubscriptionFields, changes: Changes): SubscriptionFields {
  const { start_date, until_date, dashboard_export_insights: insights, ...others } = changes;
  const { invite_message: _, send_test_now: __, ...kept } = others;
  return {
    ...fields,
    ...kept,
    dashboard_export_insights: insights === undefined ? fields.dashboard_export_insights : [...new Set(insights ?? [])],
    start_date: start_date === undefined ? fields.start_date : new Date(start_date),
    until_date: until_date === undefined ? fields.until_date : until_date === null ? null : new Date(until_date),
  };
}

export function toRule(fields: SubscriptionFields): RecurrenceRule {
  const { frequency, interval, byweekday, bysetpos, count, start_date, until_date } = fields;
  return { frequency, interval, byweekday, bysetpos, count, startDate: start_date, untilDate: until_date };
}

/**
 * Returns the next date of a changed subscription. The date changes with the schedule, but not with the title or target
 * (docs/api/subscriptions.md#delivery-dates). When a subscription is restored or enabled, missed reports are not sent.
 */
export function nextDateAfterChange(
  before: SubscriptionFields & { next_delivery_date: Date | null },
  after: SubscriptionFields,
  { now, timeZone }: { now: Date; timeZone: string },
): Date | null {
  if (!after.enabled) return null;
  const isSameRule = JSON.stringify(toRule(before)) === JSON.stringify(toRule(after));
  const isMissed =
    before.deleted && !after.deleted && before.next_delivery_date !== null && before.next_delivery_date < now;
  if (isSameRule && !isMissed && before.enabled) return before.next_delivery_date;
  return nextDeliveryDate(toRule(after), { now, previous: null, timeZone });
}

const maxAddresses = 100;

/** Checks fields that depend on each other (docs/api/subscriptions.md). @throws AppError `invalid` naming the field */
export function checkSubscription(fields: SubscriptionFields): void {
  checkTarget(fields);
  const { bysetpos, byweekday } = fields;
  if (byweekday?.length && bysetpos !== null && (bysetpos === 0 || Math.abs(bysetpos) > 366)) {
    throw new AppError('invalid', 'Must be between 1 and 366 or between -366 and -1.', {
      code: 'invalid_input',
      attr: 'bysetpos',
    });
  }
}

/** Rejects targets that cannot receive a report. Reports to these targets would fail without notice. */
function checkTarget(fields: SubscriptionFields): void {
  const refuse = (detail: string) => new AppError('invalid', detail, { code: 'invalid_input', attr: 'target_value' });
  if (fields.target_type === 'email') {
    const addresses = listSubscriptionTargets(fields);
    if (addresses.length === 0 || addresses.some((address) => !/^[^\s@<>]+@[^\s@<>]+$/.test(address))) {
      throw refuse('Enter a valid email address.');
    }
    if (addresses.length > maxAddresses) throw refuse(`Enter at most ${maxAddresses} email addresses.`);
  }
  if (isMasked(fields.target_value)) throw refuse('This URL is masked. Send the complete URL, or leave the field out.');
  if (fields.target_type === 'webhook' && !isWebAddress(fields.target_value)) throw refuse('Enter a valid URL.');
}

function isWebAddress(text: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
