import { formatDateTime } from '@millrace/http';
import { describeRule } from '@millrace/schedule';
import type { SubscriptionRow } from './subscription-store.ts';

/** A row as the API shows it. */
export function toSubscription(row: SubscriptionRow) {
  return {
    ...row,
    byweekday: row.byweekday && [...row.byweekday],
    start_date: formatDateTime(row.start_date),
    until_date: row.until_date && formatDateTime(row.until_date),
    created_at: formatDateTime(row.created_at),
    summary: describeRule(row),
    next_delivery_date: row.next_delivery_date && formatDateTime(row.next_delivery_date),
    // Goes into the mails of its request and is not kept.
    invite_message: null,
  };
}
