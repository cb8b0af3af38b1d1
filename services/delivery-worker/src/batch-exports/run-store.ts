import type { ExportDestinationType, ExportModel } from '@millrace/contracts';
import type { Sql } from '@millrace/db';

/** A run that was claimed, with where it writes to. */
export interface ClaimedRun {
  id: string;
  /** Counts this attempt; also tells whether the claim still holds. */
  attempts: number;
  /** Whether it covers events by when they were stored, not by their own time. */
  by_stored_time: boolean;
  data_interval_start: Date;
  data_interval_end: Date;
  batch_export_id: string;
  environment_id: number;
  model: ExportModel;
  destination_type: ExportDestinationType;
  /** What may be shown of the settings. */
  destination_config: Record<string, unknown>;
  /** The rest of them, encrypted. */
  destination_secrets: Record<string, unknown>;
}

type Claim = Pick<ClaimedRun, 'id' | 'attempts'>;

/**
 * Claims the oldest run that is to be done. A claim holds for `leaseSeconds` and is renewed by `renewClaim`.
 * @param settledUntil what was stored later is not exported yet (`readSettledUntil`); a run of the events' own time does
 * not ask for it.
 */
export async function claimRun(
  sql: Sql,
  { leaseSeconds, settledUntil }: { leaseSeconds: number; settledUntil: Date | null },
): Promise<ClaimedRun | undefined> {
  const rows = await sql.query<ClaimedRun & Record<string, unknown>>(
    `WITH due AS (
       SELECT id FROM batch_export_run
        WHERE status IN ('Starting', 'Running', 'FailedRetryable') AND attempt_at <= now()
          AND (data_interval_end <= $2
               OR EXISTS (SELECT FROM batch_export_backfill b WHERE b.id = backfill_id AND NOT b.by_stored_time))
        ORDER BY attempt_at, data_interval_start LIMIT 1 FOR UPDATE SKIP LOCKED
     ), claimed AS (
       UPDATE batch_export_run r
          SET status = 'Running', attempts = r.attempts + 1, attempt_at = now() + make_interval(secs => $1),
              records_completed = NULL, last_updated_at = now()
         FROM due WHERE r.id = due.id
       RETURNING r.*
     )
     SELECT c.id, c.attempts, coalesce(b.by_stored_time, true) AS by_stored_time, c.data_interval_start, c.data_interval_end, c.batch_export_id,
            e.environment_id, e.model, e.destination_type, e.destination_config, e.destination_secrets
       FROM claimed c
       JOIN batch_export e ON e.id = c.batch_export_id
       LEFT JOIN batch_export_backfill b ON b.id = c.backfill_id`,
    [leaseSeconds, settledUntil],
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
