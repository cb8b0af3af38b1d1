import { recordActivity } from '@millrace/accounts';
import { targetsOf } from '@millrace/contracts';
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
 * Turns due dates into reports to be sent and moves the dates, in one transaction: whatever dies, a date leads to exactly
 * one report for each target. After a long standstill only one report is sent, not all that were missed. Where what it is about was deleted, one that says so is the last.
 *
 * @returns whether there may be more.
 */
export async function scheduleDue(database: Database, now: Date): Promise<boolean> {
  return database.transaction(async (tx) => {
    const due = await lockDueSubscriptions(tx, { now, limit: portion });
    if (due.length === 0) return false;
    await insertDueDeliveries(
      tx,
      due.flatMap((subscription) =>
        targetsOf(subscription).map((target) => ({
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

/** Turns subscriptions off as their owner would, who finds in the history why. */
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
