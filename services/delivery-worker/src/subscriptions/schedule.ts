import { targetsOf } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { nextDeliveryDate } from '@millrace/schedule';
import { type DueSubscription, insertScheduledDeliveries, lockDueSubscriptions, setNextDates } from './store.ts';

const portion = 100;

/**
 * Turns due dates into reports to be sent and moves the dates, in one transaction: whatever dies, a date leads to exactly
 * one report for each target. After a long standstill only one report is sent, not all that were missed.
 *
 * @returns whether there may be more.
 */
export async function scheduleDue(database: Database, now: Date): Promise<boolean> {
  return database.transaction(async (tx) => {
    const due = await lockDueSubscriptions(tx, { now, limit: portion });
    if (due.length === 0) return false;
    await insertScheduledDeliveries(
      tx,
      due.flatMap((subscription) =>
        targetsOf(subscription).map((target) => ({
          subscriptionId: subscription.id,
          dueAt: subscription.next_delivery_date,
          target,
        })),
      ),
    );
    await setNextDates(
      tx,
      due.map((subscription) => ({ id: subscription.id, next: nextDateOf(subscription, now) })),
    );
    return due.length === portion;
  });
}

function nextDateOf(due: DueSubscription, now: Date): Date | null {
  const { start_date, until_date, next_delivery_date, timezone, ...rule } = due;
  return nextDeliveryDate(
    { ...rule, startDate: start_date, untilDate: until_date },
    { now, previous: next_delivery_date, timeZone: timezone },
  );
}
