import type { Sql } from '@millrace/db';
import type { SlotUsage } from '../tasks/fair-slots.ts';
import type { ClaimedRun } from './records/claimed-run.ts';

type Claim = Pick<ClaimedRun, 'id' | 'attempts'>;

/**
 * Claims a run that is to be done: that of the organization whose turn it is, the oldest of its schedule before those of its
 * backfills. A claim holds for `leaseSeconds` and is renewed by `renewClaim`.
 * @param settledUntil what was stored later is not exported yet (`SettledUntil`); a run of the events' own time does
 * not ask for it.
 */
export async function claimRun(
  sql: Sql,
  { leaseSeconds, settledUntil, usage }: { leaseSeconds: number; settledUntil: Date | null; usage: SlotUsage },
): Promise<ClaimedRun | undefined> {
  const full = usage.organizationIds.filter((_, index) => (usage.counts[index] ?? 0) >= usage.maxEach);
  const rows = await sql.query<ClaimedRun & Record<string, unknown>>(
    `WITH due AS (
       SELECT r.id, p.organization_id
         FROM batch_export_run r
         JOIN batch_export e ON e.id = r.batch_export_id
         JOIN environment v ON v.id = e.environment_id
         JOIN project p ON p.id = v.project_id
        WHERE r.status IN ('Starting', 'Running', 'FailedRetryable') AND r.attempt_at <= now()
          AND (r.data_interval_end <= $4
               OR EXISTS (SELECT FROM batch_export_backfill b WHERE b.id = r.backfill_id AND NOT b.by_stored_time))
          AND p.organization_id <> ALL ($2::uuid[])
        ORDER BY p.organization_id <= $3::uuid, p.organization_id, r.backfill_id IS NOT NULL, r.attempt_at,
                 r.data_interval_start
        LIMIT 1 FOR UPDATE OF r SKIP LOCKED
     ), claimed AS (
       UPDATE batch_export_run r
          SET status = 'Running', attempts = r.attempts + 1, attempt_at = now() + make_interval(secs => $1),
              records_completed = NULL, last_updated_at = now()
         FROM due WHERE r.id = due.id
       RETURNING r.*, due.organization_id
     )
     SELECT c.id, c.attempts, coalesce(b.by_stored_time, true) AS by_stored_time, c.data_interval_start, c.data_interval_end,
            c.batch_export_id, c.organization_id, e.environment_id, e.model, e.destination_type, e.destination_config,
            e.destination_secrets
       FROM claimed c
       JOIN batch_export e ON e.id = c.batch_export_id
       LEFT JOIN batch_export_backfill b ON b.id = c.backfill_id`,
    [leaseSeconds, full, usage.last, settledUntil],
  );
  return rows[0];
}

/** @returns false when the run was cancelled, or is another worker's by now. */
export async function renewClaim(
  sql: Sql,
  { id, attempts }: Claim,
  { records, leaseSeconds }: { records: number; leaseSeconds: number },
): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE batch_export_run
        SET records_completed = $3, attempt_at = now() + make_interval(secs => $4), last_updated_at = now()
      WHERE id = $1 AND attempts = $2 AND status = 'Running' RETURNING id`,
    [id, attempts, records, leaseSeconds],
  );
  return rows.length > 0;
}

export async function completeRun(sql: Sql, { id, attempts }: Claim, records: number): Promise<void> {
  await sql.query(
    `UPDATE batch_export_run SET status = 'Completed', records_completed = $3, latest_error = NULL,
            finished_at = now(), last_updated_at = now()
      WHERE id = $1 AND attempts = $2 AND status = 'Running'`,
    [id, attempts, records],
  );
}

/** @param delaySeconds null: it is given up. */
export async function failRun(
  sql: Sql,
  { id, attempts }: Claim,
  { error, delaySeconds }: { error: string; delaySeconds: number | null },
): Promise<void> {
  await sql.query(
    `UPDATE batch_export_run
        SET status = CASE WHEN $4::int IS NULL THEN 'Failed' ELSE 'FailedRetryable' END, latest_error = $3,
            attempt_at = now() + make_interval(secs => coalesce($4::int, 0)),
            finished_at = CASE WHEN $4::int IS NULL THEN now() END, last_updated_at = now()
      WHERE id = $1 AND attempts = $2 AND status = 'Running'`,
    [id, attempts, error, delaySeconds],
  );
}

/** Gives a claim back at once: the worker stops. The attempt does not count. */
export async function releaseRun(sql: Sql, { id, attempts }: Claim): Promise<void> {
  await sql.query(
    `UPDATE batch_export_run SET status = 'Starting', attempts = attempts - 1, attempt_at = now(), last_updated_at = now()
      WHERE id = $1 AND attempts = $2 AND status = 'Running'`,
    [id, attempts],
  );
}
