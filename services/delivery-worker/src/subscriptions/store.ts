// SQL that schedules subscriptions, and claims their reports and deliveries.

import { randomUUID } from 'node:crypto';
import type { Columns, Sql, Transaction } from '@millrace/db';
import type { ReportContent } from '@millrace/reports';
import type { RecurrenceRule } from '@millrace/schedule';
import type { SlotUsage } from '../poll.ts';

export interface DueSubscription
  extends Columns<
      'subscription',
      | 'id'
      | 'environment_id'
      | 'title'
      | 'target_type'
      | 'target_value'
      | 'frequency'
      | 'interval'
      | 'bysetpos'
      | 'count'
      | 'start_date'
      | 'until_date'
      | 'next_delivery_date'
    >,
    Columns<'environment', 'timezone'> {
  frequency: RecurrenceRule['frequency'];
  byweekday: RecurrenceRule['byweekday'];
  next_delivery_date: Date;
  organization_id: string;
  /** Whether the subscription's insight or dashboard was deleted. */
  is_ended: boolean;
}

/** Locks due subscriptions, except those that another worker has locked. */
export async function lockDueSubscriptions(
  tx: Transaction,
  { now, limit }: { now: Date; limit: number },
): Promise<DueSubscription[]> {
  return tx.query<DueSubscription & Record<string, unknown>>(
    `SELECT s.id, s.target_type, s.target_value, s.frequency, s."interval", s.byweekday, s.bysetpos, s.count,
            s.start_date, s.until_date, s.next_delivery_date, s.environment_id, s.title, e.timezone, p.organization_id,
            CASE WHEN s.insight IS NOT NULL THEN NOT EXISTS (SELECT FROM insight i WHERE i.id = s.insight AND NOT i.deleted)
                 WHEN s.dashboard IS NOT NULL
                 THEN NOT EXISTS (SELECT FROM dashboard d WHERE d.id = s.dashboard AND NOT d.deleted)
                 ELSE false END AS is_ended
       FROM subscription s JOIN environment e ON e.id = s.environment_id JOIN project p ON p.id = e.project_id
      WHERE s.next_delivery_date <= $1 AND s.enabled AND NOT s.deleted
      ORDER BY s.next_delivery_date
      LIMIT $2
        FOR UPDATE OF s SKIP LOCKED`,
    [now, limit],
  );
}

export async function setNextDates(tx: Transaction, dates: { id: number; next: Date | null }[]): Promise<void> {
  await tx.query(
    `UPDATE subscription s SET next_delivery_date = moved.next
       FROM unnest($1::int[], $2::timestamptz[]) AS moved (id, next)
      WHERE s.id = moved.id`,
    [dates.map(({ id }) => id), dates.map(({ next }) => next)],
  );
}

export async function endSubscriptions(tx: Transaction, ids: number[]): Promise<void> {
  await tx.query('UPDATE subscription SET deleted = true, updated_at = now() WHERE id = ANY ($1::int[])', [ids]);
}

/** Inserts missing deliveries. Existing deliveries stay unchanged. */
export async function insertDueDeliveries(
  tx: Transaction,
  deliveries: { subscriptionId: number; occasion: 'scheduled' | 'ended'; dueAt: Date; target: string }[],
): Promise<void> {
  await tx.query(
    `INSERT INTO subscription_delivery (id, subscription_id, occasion, due_at, target)
     SELECT new.id, new.subscription_id, new.occasion, new.due_at, new.target
       FROM unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::text[], $5::text[])
         AS new (id, subscription_id, due_at, target, occasion)
     ON CONFLICT (subscription_id, occasion, due_at, target) DO NOTHING`,
    [
      deliveries.map(() => randomUUID()),
      deliveries.map(({ subscriptionId }) => subscriptionId),
      deliveries.map(({ dueAt }) => dueAt),
      deliveries.map(({ target }) => target),
      deliveries.map(({ occasion }) => occasion),
    ],
  );
}

export interface ClaimedReport
  extends Columns<'subscription_report', 'id' | 'subscription_id' | 'due_at' | 'attempts'>,
    Columns<'subscription', 'environment_id' | 'insight' | 'dashboard' | 'dashboard_export_insights'> {
  organization_id: string;
}

/**
 * Claims due reports that have no numbers yet. Organizations take turns, and older reports come first. Another worker
 * can claim a report when the claim expires after `leaseSeconds`.
 */
export async function claimReports(
  sql: Sql,
  { limit, leaseSeconds, usage }: { limit: number; leaseSeconds: number; usage: SlotUsage },
): Promise<ClaimedReport[]> {
  return sql.query<ClaimedReport & Record<string, unknown>>(
    `WITH due AS (
       SELECT DISTINCT d.subscription_id, d.due_at, s.environment_id, s.insight, s.dashboard, s.dashboard_export_insights,
              p.organization_id
         FROM subscription_delivery d
         JOIN subscription s ON s.id = d.subscription_id
         JOIN environment e ON e.id = s.environment_id
         JOIN project p ON p.id = e.project_id
         LEFT JOIN subscription_report r ON r.subscription_id = d.subscription_id AND r.due_at = d.due_at
        WHERE d.status = 'pending' AND d.attempt_at <= now() AND d.occasion <> 'ended' AND NOT s.deleted
          AND r.content IS NULL AND (r.id IS NULL OR r.attempt_at <= now())
     ), ranked AS (
       SELECT due.*, row_number() OVER (PARTITION BY due.organization_id ORDER BY due.due_at, due.subscription_id)
                       + coalesce(taken.slots, 0) AS rank
         FROM due
         LEFT JOIN unnest($3::uuid[], $4::int[]) AS taken (organization_id, slots)
           ON taken.organization_id = due.organization_id
     ), chosen AS (
       SELECT * FROM ranked WHERE rank <= $5 ORDER BY rank, organization_id <= $6::uuid, organization_id LIMIT $1
     ), claimed AS (
       INSERT INTO subscription_report AS r (id, subscription_id, due_at, attempt_at)
       SELECT gen_random_uuid(), subscription_id, due_at, now() + make_interval(secs => $2)
         FROM chosen ORDER BY subscription_id, due_at
       ON CONFLICT (subscription_id, due_at) DO UPDATE
          SET attempts = r.attempts + 1, attempt_at = excluded.attempt_at
        WHERE r.content IS NULL AND r.attempt_at <= now()
       RETURNING r.id, r.subscription_id, r.due_at, r.attempts
     )
     SELECT claimed.*, chosen.environment_id, chosen.insight, chosen.dashboard, chosen.dashboard_export_insights,
            chosen.organization_id
       FROM claimed JOIN chosen USING (subscription_id, due_at)`,
    [limit, leaseSeconds, usage.organizationIds, usage.counts, usage.maxEach, usage.last],
  );
}

/**
 * Stores a report's content, unless another worker has already stored it. The content is JSON null if the insight or
 * dashboard does not exist.
 */
export async function saveReport(sql: Sql, { id }: ClaimedReport, content: ReportContent | null): Promise<void> {
  await sql.query('UPDATE subscription_report SET content = $2::jsonb WHERE id = $1 AND content IS NULL', [
    id,
    JSON.stringify(content),
  ]);
}

export interface ClaimedDelivery
  extends Columns<
      'subscription_delivery',
      'id' | 'unsubscribe_id' | 'occasion' | 'due_at' | 'target' | 'invite_message' | 'subscription_id'
    >,
    Columns<
      'subscription',
      | 'target_type'
      | 'target_value'
      | 'deleted'
      | 'title'
      | 'dashboard'
      | 'insight'
      | 'frequency'
      | 'interval'
      | 'bysetpos'
      | 'environment_id'
      | 'next_delivery_date'
    >,
    Columns<'environment', 'slack_incoming_webhook'>,
    Columns<'organization', 'allow_publicly_shared_resources'> {
  /** The number of this attempt. It also identifies the claim. */
  attempts: number;
  organization_id: string;
  frequency: RecurrenceRule['frequency'];
  byweekday: RecurrenceRule['byweekday'];
  environment_name: string;
  /** The name of the insight or dashboard, even if it has been deleted. */
  subject_name: string | null;
  insight_short_id: string | null;
  /** The first name of the user who created the subscription. */
  created_by: string | null;
  /** The report to send, or null for the final delivery, which only states that the subscription has ended. */
  report_id: string | null;
  content: ReportContent | null;
}

/**
 * Claims some due deliveries whose report has numbers. Organizations take turns within their free slots, and older
 * deliveries come first. Another worker can claim a delivery when the claim expires after `leaseSeconds`.
 */
export async function claimDeliveries(
  tx: Transaction,
  { limit, leaseSeconds, usage }: { limit: number; leaseSeconds: number; usage: SlotUsage },
): Promise<ClaimedDelivery[]> {
  return tx.query<ClaimedDelivery & Record<string, unknown>>(
    `WITH due AS (
       SELECT d.id, p.organization_id,
              row_number() OVER (PARTITION BY p.organization_id ORDER BY d.attempt_at, d.id)
                + coalesce(taken.slots, 0) AS rank
         FROM subscription_delivery d
         JOIN subscription s ON s.id = d.subscription_id
         JOIN environment e ON e.id = s.environment_id
         JOIN project p ON p.id = e.project_id
         LEFT JOIN unnest($3::uuid[], $4::int[]) AS taken (organization_id, slots)
           ON taken.organization_id = p.organization_id
        WHERE d.status = 'pending' AND d.attempt_at <= now()
          AND (d.occasion = 'ended' OR s.deleted OR EXISTS (
                SELECT FROM subscription_report r
                 WHERE r.subscription_id = d.subscription_id AND r.due_at = d.due_at AND r.content IS NOT NULL))
     ), chosen AS (
       SELECT id, organization_id FROM due WHERE rank <= $5
        ORDER BY rank, organization_id <= $6::uuid, organization_id LIMIT $1
     ), locked AS (
       SELECT d.id, chosen.organization_id FROM subscription_delivery d JOIN chosen ON chosen.id = d.id
        WHERE d.status = 'pending' AND d.attempt_at <= now()
          FOR UPDATE OF d SKIP LOCKED
     ), claimed AS (
       UPDATE subscription_delivery d
          SET attempts = d.attempts + 1, attempt_at = now() + make_interval(secs => $2)
         FROM locked WHERE d.id = locked.id
       RETURNING d.*, locked.organization_id
     )
     SELECT c.id, c.unsubscribe_id, c.attempts, c.organization_id, c.occasion, c.due_at, c.target, c.invite_message, c.subscription_id,
            s.target_type, s.target_value, s.deleted, s.title, s.dashboard, s.insight, s.frequency, s."interval",
            s.byweekday, s.bysetpos, s.environment_id, e.name AS environment_name, e.slack_incoming_webhook,
            s.next_delivery_date, i.short_id AS insight_short_id, CASE WHEN u.is_email_verified THEN u.email END AS created_by,
            CASE WHEN s.insight IS NULL THEN d.name ELSE coalesce(i.name, i.derived_name) END AS subject_name,
            r.id AS report_id, r.content, o.allow_publicly_shared_resources
       FROM claimed c
       JOIN organization o ON o.id = c.organization_id
       JOIN subscription s ON s.id = c.subscription_id
       LEFT JOIN subscription_report r ON r.subscription_id = c.subscription_id AND r.due_at = c.due_at
       LEFT JOIN "user" u ON u.id = s.created_by_id
       LEFT JOIN insight i ON i.id = s.insight
       LEFT JOIN dashboard d ON d.id = s.dashboard
       JOIN environment e ON e.id = s.environment_id`,
    [limit, leaseSeconds, usage.organizationIds, usage.counts, usage.maxEach, usage.last],
  );
}

/**
 * Postpones all of an organization's due emails, including claimed ones, without counting an attempt.
 * @param reason the reason that is shown to the subscription's owner
 */
export async function postponeOrganizationMails(
  tx: Transaction,
  { organizationId, claimed, reason }: { organizationId: string; claimed: readonly string[]; reason: string },
): Promise<void> {
  await tx.query(
    `UPDATE subscription_delivery d
        SET error = $3, attempt_at = date_trunc('hour', now()) + interval '1 hour',
            attempts = d.attempts - CASE WHEN d.id = ANY ($2::uuid[]) THEN 1 ELSE 0 END
       FROM subscription s
       JOIN environment e ON e.id = s.environment_id
       JOIN project p ON p.id = e.project_id
      WHERE s.id = d.subscription_id AND s.target_type = 'email' AND p.organization_id = $1
        AND d.status = 'pending' AND (d.attempt_at <= now() OR d.id = ANY ($2::uuid[]))`,
    [organizationId, claimed, reason],
  );
}

/** Stores a delivery's final outcome, unless the claim has expired and another worker has claimed the delivery. */
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

/** Releases a claim. The delivery is attempted again after a delay. */
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
