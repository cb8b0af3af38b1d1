// Creates deliveries for due subscriptions and sets their next dates.

import { recordActivity } from '@millrace/accounts';
import { listSubscriptionTargets } from '@millrace/contracts';
import type { Database, Transaction } from '@millrace/db';
import { nextDeliveryDate } from '@millrace/schedule';
import {
  type DueSubscription,
  endSubscriptions,
  insertDueDeliveries,
  lockDueSubscriptions,
  setNextDates,
} from './store.ts';

const portion = 100;

/**
 * Creates deliveries for due subscriptions and advances their dates, in one transaction. Each date therefore results in
 * exactly one delivery per target, even after crashes. After a long downtime, only one report is sent instead of every
 * missed one. If the insight or dashboard was deleted, a final delivery says so.
 * @returns whether more subscriptions may be due
 */
export async function scheduleDueReports(database: Database, now: Date): Promise<boolean> {
  return database.transaction(async (tx) => {
    const due = await lockDueSubscriptions(tx, { now, limit: portion });
    if (due.length === 0) return false;
    await insertDueDeliveries(
      tx,
      due.flatMap((subscription) =>
        listSubscriptionTargets(subscription).map((target) => ({
          subscriptionId: subscription.id,
          occasion: subscription.is_ended ? 'ended' : 'scheduled',
          dueAt: subscription.next_delivery_date,
          target,
        })),
      ),
    );
    await setNextDates(
      tx,
      due.map((subscription) => ({ id: subscription.id, next: nextDateOf(subscription, now) })),
    );
    await end(
      tx,
      due.filter(({ is_ended }) => is_ended),
    );
    return due.length === portion;
  });
}

/** Deletes subscriptions and records this in the activity log. */
async function end(tx: Transaction, ended: DueSubscription[]): Promise<void> {
  if (ended.length === 0) return;
  await endSubscriptions(
    tx,
    ended.map(({ id }) => id),
  );
  for (const { id, title, organization_id: organizationId, environment_id: environmentId } of ended) {
    const about = { scope: 'Subscription', itemId: id, name: title, activity: 'deleted' } as const;
    await recordActivity(tx, { ...about, organizationId, environmentId, actor: null });
  }
}

function nextDateOf(due: DueSubscription, now: Date): Date | null {
  const { start_date, until_date, next_delivery_date, timezone, ...rule } = due;
  return nextDeliveryDate(
    { ...rule, startDate: start_date, untilDate: until_date },
    { now, previous: next_delivery_date, timeZone: timezone },
  );
}
