import type { Sql } from '@millrace/db';

/** A report that was claimed, with all it says. */
export interface ClaimedDelivery {
  id: string;
  /** Counts this attempt; also tells whether the claim still holds. */
  attempts: number;
  occasion: string;
  due_at: Date;
  target: string;
  invite_message: string | null;
  subscription_id: number;
  target_type: string;
  target_value: string;
  deleted: boolean;
  title: string | null;
  dashboard: number | null;
  insight: number | null;
  frequency: 'daily' | 'weekly' | 'monthly' | 'yearly';
  interval: number;
  byweekday: ('monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday')[] | null;
  bysetpos: number | null;
  environment_id: number;
  environment_name: string;
  slack_incoming_webhook: string | null;
}

/**
 * Claims some reports that are to be sent, the oldest first. A claim holds for `leaseSeconds`; whoever has not finished by
 * then counts as dead, and the report is anybody's again.
 */
export async function claimDeliveries(
  sql: Sql,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<ClaimedDelivery[]> {
  return sql.query<ClaimedDelivery & Record<string, unknown>>(
    `WITH due AS (
       SELECT id FROM subscription_delivery
        WHERE status = 'pending' AND attempt_at <= now()
        ORDER BY attempt_at
        LIMIT $1
          FOR UPDATE SKIP LOCKED
     ), claimed AS (
       UPDATE subscription_delivery d
          SET attempts = d.attempts + 1, attempt_at = now() + make_interval(secs => $2)
         FROM due WHERE d.id = due.id
       RETURNING d.*
     )
     SELECT c.id, c.attempts, c.occasion, c.due_at, c.target, c.invite_message, c.subscription_id, s.target_type,
            s.target_value, s.deleted, s.title, s.dashboard, s.insight, s.frequency, s."interval", s.byweekday,
            s.bysetpos, s.environment_id, e.name AS environment_name, e.slack_incoming_webhook AS slack_incoming_webhook
       FROM claimed c
       JOIN subscription s ON s.id = c.subscription_id
       JOIN environment e ON e.id = s.environment_id`,
    [limit, leaseSeconds],
  );
}

/** Notes the end of a report, unless the claim was lost in the meantime. */
export async function finishDelivery(
  sql: Sql,
  { id, attempts }: { id: string; attempts: number },
  { status, error }: { status: 'delivered' | 'failed' | 'cancelled'; error: string | null },
): Promise<void> {
  await sql.query(
    `UPDATE subscription_delivery SET status = $3, error = $4, finished_at = now()
      WHERE id = $1 AND attempts = $2 AND status = 'pending'`,
    [id, attempts, status, error],
  );
}

/** Gives a claim back, for another attempt later. */
export async function postponeDelivery(
  sql: Sql,
  { id, attempts }: { id: string; attempts: number },
  { error, delaySeconds }: { error: string; delaySeconds: number },
): Promise<void> {
  await sql.query(
    `UPDATE subscription_delivery SET error = $3, attempt_at = now() + make_interval(secs => $4)
      WHERE id = $1 AND attempts = $2 AND status = 'pending'`,
    [id, attempts, error, delaySeconds],
  );
}
