// SQL that plans, claims and completes batch exports, and reads their rows.

import { randomUUID } from 'node:crypto';
import type { Sql, Transaction } from '@millrace/db';
import { buildEventSpanSql, type Condition, type EventSpan } from '@millrace/insights';
import type { ExportRhythm, ExportSchedule, TimeSpan } from '@millrace/schedule';
import type { SlotUsage } from '../poll.ts';
import type { ClaimedRun, EventRecord, PersonRecord } from './destination.ts';

interface Plannable extends ExportSchedule {
  id: string;
  next_interval_start: Date;
  next_interval_end: Date;
}

/** Locks an export whose next interval ended before `settledUntil`. */
export async function lockDueExport(tx: Transaction, settledUntil: Date): Promise<Plannable | undefined> {
  const rows = await tx.query<Plannable & Record<string, unknown>>(
    `SELECT id, "interval", timezone, offset_day, offset_hour, start_at, end_at, next_interval_start, next_interval_end
       FROM batch_export
      WHERE NOT deleted AND NOT paused AND next_interval_end <= $1
      ORDER BY next_interval_end LIMIT 1 FOR UPDATE SKIP LOCKED`,
    [settledUntil],
  );
  return rows[0];
}

export async function setNextInterval(tx: Transaction, exportId: string, next: TimeSpan | null): Promise<void> {
  await tx.query('UPDATE batch_export SET next_interval_start = $2, next_interval_end = $3 WHERE id = $1', [
    exportId,
    next?.start ?? null,
    next?.end ?? null,
  ]);
}

/** Inserts runs. A backfill's last run can be created before its interval has ended, but starts only afterwards. */
export async function insertRuns(
  tx: Transaction,
  { exportId, backfillId }: { exportId: string; backfillId: string | null },
  spans: TimeSpan[],
): Promise<void> {
  await tx.query(
    `INSERT INTO batch_export_run (id, batch_export_id, backfill_id, data_interval_start, data_interval_end, attempt_at)
     SELECT new.id, $1, $2, new.start_at, new.end_at, greatest(now(), new.end_at)
       FROM unnest($3::uuid[], $4::timestamptz[], $5::timestamptz[]) AS new (id, start_at, end_at)`,
    [exportId, backfillId, spans.map(() => randomUUID()), spans.map(({ start }) => start), spans.map(({ end }) => end)],
  );
}

interface PlannableBackfill extends ExportRhythm {
  id: string;
  batch_export_id: string;
  end_at: Date;
  next_interval_start: Date | null;
  has_failed_run: boolean;
}

/** Locks a backfill without open runs. Such a backfill is complete, or needs its next runs. */
export async function lockOpenBackfill(tx: Transaction): Promise<PlannableBackfill | undefined> {
  const rows = await tx.query<PlannableBackfill & Record<string, unknown>>(
    `SELECT b.id, b.batch_export_id, e."interval", e.timezone, e.offset_day, e.offset_hour, b.end_at, b.next_interval_start,
            EXISTS (SELECT FROM batch_export_run r
                     WHERE r.backfill_id = b.id AND r.created_at >= b.created_at AND r.status = 'Failed') AS has_failed_run
       FROM batch_export_backfill b
       JOIN batch_export e ON e.id = b.batch_export_id
      WHERE b.status = 'Running'
        AND NOT EXISTS (SELECT FROM batch_export_run r
                         WHERE r.backfill_id = b.id AND r.created_at >= b.created_at AND r.finished_at IS NULL)
      ORDER BY b.created_at LIMIT 1 FOR UPDATE OF b SKIP LOCKED`,
  );
  return rows[0];
}

export async function updateBackfill(
  tx: Transaction,
  id: string,
  { status, nextStart }: { status: 'Running' | 'Completed' | 'Failed'; nextStart: Date | null },
): Promise<void> {
  await tx.query(
    `UPDATE batch_export_backfill
        SET status = $2, next_interval_start = $3, last_updated_at = now(),
            finished_at = CASE WHEN $2 = 'Running' THEN NULL ELSE now() END
      WHERE id = $1`,
    [id, status, nextStart],
  );
}

type Claim = Pick<ClaimedRun, 'id' | 'attempts'>;

/**
 * Claims a due run. Organizations take turns. Scheduled runs come before backfills, and older runs before newer ones. A
 * claim lasts `leaseSeconds`, and `renewClaim` renews it.
 * @param settledUntil events stored after this time are not exported yet (see `SettledUntil`). The limit does not apply
 *   to runs that select events by their own timestamps, unless `isCopied`: in that case, events that were stored before
 *   the run was created must be in the other store.
 */
export async function claimRun(
  sql: Sql,
  {
    leaseSeconds,
    settledUntil,
    usage,
    isCopied = false,
  }: { leaseSeconds: number; settledUntil: Date | null; usage: SlotUsage; isCopied?: boolean },
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
               OR (NOT $5 OR r.created_at <= $4)
                  AND EXISTS (SELECT FROM batch_export_backfill b WHERE b.id = r.backfill_id AND NOT b.by_stored_time))
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
            c.batch_export_id, c.organization_id, e.environment_id, e.model, e.filters, e.query, e.destination_type,
            e.destination_config, e.destination_secrets
       FROM claimed c
       JOIN batch_export e ON e.id = c.batch_export_id
       LEFT JOIN batch_export_backfill b ON b.id = c.backfill_id`,
    [leaseSeconds, full, usage.last, settledUntil, isCopied],
  );
  return rows[0];
}

/** Extends a run's claim. @returns false if the run was cancelled or another worker has claimed it */
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

export async function completeRun(
  sql: Sql,
  { id, attempts }: Claim,
  { records, bytes }: { records: number; bytes: number },
): Promise<void> {
  await sql.query(
    `UPDATE batch_export_run SET status = 'Completed', records_completed = $3, bytes_exported = $4, latest_error = NULL,
            finished_at = now(), last_updated_at = now()
      WHERE id = $1 AND attempts = $2 AND status = 'Running'`,
    [id, attempts, records, bytes],
  );
}

/**
 * Records a failed attempt.
 * @param delaySeconds the delay before the next attempt, or null if this was the last attempt
 */
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

/** Releases a claim because the worker is stopping. The attempt is not counted. */
export async function releaseRun(sql: Sql, { id, attempts }: Claim): Promise<void> {
  await sql.query(
    `UPDATE batch_export_run SET status = 'Starting', attempts = attempts - 1, attempt_at = now(), last_updated_at = now()
      WHERE id = $1 AND attempts = $2 AND status = 'Running'`,
    [id, attempts],
  );
}

const cursorName = 'export_rows';

/**
 * Opens a cursor over a run's records, in the same order at every attempt. A scheduled run selects events by their
 * stored time, so that it does not miss late events. A backfill of a range selects them by their own timestamps. A run
 * of persons always covers all persons in their current state, because the time of their last change is not stored.
 */
export async function openCursor(tx: Transaction, run: ClaimedRun, where: Condition): Promise<void> {
  await tx.query('SET LOCAL cursor_tuple_fraction = 1');
  if (run.model === 'persons') return openPersons(tx, run.environment_id);
  const { text, values } = buildEventSpanSql(selectEventsOfRun(run, where));
  await tx.query(`DECLARE ${cursorName} NO SCROLL CURSOR FOR ${text}`, values);
}

/** Selects a run's events. @param where the condition of the export's filters */
export function selectEventsOfRun(run: ClaimedRun, where: Condition): EventSpan {
  const { include_events: include, exclude_events: exclude } = run.destination_config;
  const values = listOrNull(exclude) ?? [];
  const excluded: Condition = { property: { of: 'column', key: 'event' }, test: { is: 'equal', values } };
  return {
    projectId: run.environment_id,
    events: listOrNull(include),
    where: { all: [where, { not: excluded }] },
    by: run.by_stored_time ? 'created_at' : 'timestamp',
    from: run.data_interval_start.getTime(),
    to: run.data_interval_end.getTime(),
  };
}

async function openPersons(tx: Transaction, environmentId: number): Promise<void> {
  await tx.query(
    `DECLARE ${cursorName} NO SCROLL CURSOR FOR
     SELECT d.distinct_id, p.uuid AS person_id, p.properties::text, p.is_identified, p.version,
            d.version AS person_distinct_id_version, p.created_at
       FROM person_distinct_id d JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
      WHERE d.project_id = $1
      ORDER BY d.distinct_id`,
    [environmentId],
  );
}

/** Returns the next rows of the cursor. Returns fewer rows than requested only at the end. */
export async function fetchRows<Row extends EventRecord | PersonRecord>(
  tx: Transaction,
  count: number,
): Promise<Row[]> {
  return tx.query<Row & Record<string, unknown>>(`FETCH ${Math.trunc(count)} FROM ${cursorName}`);
}

function listOrNull(list: unknown): string[] | null {
  return Array.isArray(list) && list.length > 0 ? list.map(String) : null;
}

/** A transaction of another role, whose start time PostgreSQL hides. */
export interface HiddenTransaction {
  /** PostgreSQL does not reuse this ID until it restarts. */
  id: string;
  isConsumer: boolean;
  hasWritten: boolean;
}

interface OpenTransactions {
  /** The time of the check, minus the minimum age of events. */
  reached: Date;
  /** When the oldest visible transaction that could store events began. Null if no such transaction is open. */
  oldest: Date | null;
  hidden: HiddenTransaction[];
  hiddenSessions: number;
  /** Whether a prepared transaction has locked the events table. Its start time is unknown. */
  hasPrepared: boolean;
}

/**
 * Reads the transactions that may still store events: those of all consumer sessions, even if they have not written
 * anything yet, and those of other sessions if they have written something and began in the last hour. All roles can
 * see locks, so a hidden transaction is identified by the lock on its own virtual transaction ID.
 */
export async function readTransactionsThatMayStoreEvents(sql: Sql, settleSeconds: number): Promise<OpenTransactions> {
  const [row] = await sql.query<Row>(
    `WITH session AS (
       SELECT coalesce(application_name = $2, true) AS is_consumer, backend_xid IS NOT NULL AS has_written, xact_start,
              backend_type IS NULL AS is_hidden, own.virtualtransaction AS id
         FROM pg_stat_activity
         LEFT JOIN pg_locks own ON own.pid = pg_stat_activity.pid AND own.locktype = 'virtualxid'
                               AND own.virtualxid = own.virtualtransaction
        WHERE datname = current_database() AND pg_stat_activity.pid <> pg_backend_pid()
     )
     SELECT now() - make_interval(secs => $1) AS reached,
            min(xact_start) FILTER (WHERE is_consumer OR has_written AND xact_start > now() - interval '1 hour') AS oldest,
            coalesce(json_agg(json_build_object('id', id, 'isConsumer', is_consumer, 'hasWritten', has_written))
                       FILTER (WHERE xact_start IS NULL AND id IS NOT NULL), '[]') AS hidden,
            (count(*) FILTER (WHERE is_hidden AND (is_consumer OR has_written)))::int AS hidden_sessions,
            EXISTS (SELECT FROM pg_locks
                     WHERE pid IS NULL AND relation = 'event'::regclass AND mode = 'RowExclusiveLock'
                       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS has_prepared
       FROM session`,
    [settleSeconds, consumerName],
  );
  if (row === undefined) throw new Error('An aggregate gave no row.');
  const { reached, oldest, hidden, hidden_sessions: hiddenSessions, has_prepared: hasPrepared } = row;
  return { reached, oldest, hidden, hiddenSessions, hasPrepared };
}

interface Row extends Record<string, unknown> {
  reached: Date;
  oldest: Date | null;
  hidden: HiddenTransaction[];
  hidden_sessions: number;
  has_prepared: boolean;
}

/** The application name that services/event-consumer/src/main.ts sets. */
const consumerName = 'event-consumer';
