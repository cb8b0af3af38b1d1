import { randomUUID } from 'node:crypto';
import type { Transaction } from '@millrace/db';
import type { RecurrenceRule } from '@millrace/schedule';

/** A subscription whose date has come. */
export interface DueSubscription {
  id: number;
  target_type: string;
  target_value: string;
  frequency: RecurrenceRule['frequency'];
  interval: number;
  byweekday: RecurrenceRule['byweekday'];
  bysetpos: number | null;
  count: number | null;
  start_date: Date;
  until_date: Date | null;
  next_delivery_date: Date;
  timezone: string;
}

/** Locks some subscriptions that are due; those another worker has in hand are left to it. */
export async function lockDueSubscriptions(
  tx: Transaction,
  { now, limit }: { now: Date; limit: number },
): Promise<DueSubscription[]> {
  return tx.query<DueSubscription & Record<string, unknown>>(
    `SELECT s.id, s.target_type, s.target_value, s.frequency, s."interval", s.byweekday, s.bysetpos, s.count,
            s.start_date, s.until_date, s.next_delivery_date, e.timezone
       FROM subscription s JOIN environment e ON e.id = s.environment_id
      WHERE s.next_delivery_date <= $1 AND NOT s.deleted
      ORDER BY s.next_delivery_date
      LIMIT $2
        FOR UPDATE OF s SKIP LOCKED`,
    [now, limit],
  );
}

/** Moves the dates of locked subscriptions. */
export async function setNextDates(tx: Transaction, dates: { id: number; next: Date | null }[]): Promise<void> {
  await tx.query(
    `UPDATE subscription s SET next_delivery_date = moved.next
       FROM unnest($1::int[], $2::timestamptz[]) AS moved (id, next)
      WHERE s.id = moved.id`,
    [dates.map(({ id }) => id), dates.map(({ next }) => next)],
  );
}

/** Adds a report for each target; one that is there already stays as it is. */
export async function insertScheduledDeliveries(
  tx: Transaction,
  deliveries: { subscriptionId: number; dueAt: Date; target: string }[],
): Promise<void> {
  await tx.query(
    `INSERT INTO subscription_delivery (id, subscription_id, occasion, due_at, target)
     SELECT new.id, new.subscription_id, 'scheduled', new.due_at, new.target
       FROM unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::text[]) AS new (id, subscription_id, due_at, target)
     ON CONFLICT (subscription_id, occasion, due_at, target) DO NOTHING`,
    [
      deliveries.map(() => randomUUID()),
      deliveries.map(({ subscriptionId }) => subscriptionId),
      deliveries.map(({ dueAt }) => dueAt),
      deliveries.map(({ target }) => target),
    ],
  );
}
