import { randomUUID } from 'node:crypto';
import type { Sql, Transaction } from '@millrace/db';
import { upToPageBytes } from '../../sql/up-to-page-bytes.ts';

export interface DeliveryRow {
  id: string;
  occasion: string;
  due_at: Date;
  target: string;
  status: string;
  attempts: number;
  error: string | null;
  created_at: Date;
  finished_at: Date | null;
}

/** Leaves a report to each target to the worker, which sends it at once. */
export async function insertDeliveries(
  tx: Transaction,
  subscriptionId: number,
  { targets, occasion, inviteMessage }: { targets: string[]; occasion: string; inviteMessage: string | null },
): Promise<void> {
  await tx.query(
    `INSERT INTO subscription_delivery (id, subscription_id, occasion, due_at, target, invite_message)
     SELECT new.id, $1, $2, now(), new.target, $5 FROM unnest($3::uuid[], $4::text[]) AS new (id, target)
     ON CONFLICT (subscription_id, occasion, due_at, target) DO NOTHING`,
    [subscriptionId, occasion, targets.map(() => randomUUID()), targets, inviteMessage],
  );
}

/** One page of a subscription's deliveries, the latest first, and how many there are. */
export async function listDeliveries(
  sql: Sql,
  subscriptionId: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: DeliveryRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM subscription_delivery WHERE subscription_id = $1',
      [subscriptionId],
    ),
    sql.query<DeliveryRow & Record<string, unknown>>(
      upToPageBytes(
        `SELECT id, occasion, due_at, target, status, attempts, error, created_at, finished_at
           FROM subscription_delivery WHERE subscription_id = $1
          ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`,
        ['target', 'error'],
      ),
      [subscriptionId, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}

/** Takes back what was not sent yet. */
export async function cancelDeliveries(tx: Transaction, subscriptionId: number): Promise<void> {
  await tx.query(
    `UPDATE subscription_delivery SET status = 'cancelled', finished_at = now()
      WHERE subscription_id = $1 AND status = 'pending'`,
    [subscriptionId],
  );
}
