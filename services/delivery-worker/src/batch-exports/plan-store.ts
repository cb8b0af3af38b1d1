import { randomUUID } from 'node:crypto';
import type { Transaction } from '@millrace/db';
import type { ExportInterval, TimeSpan } from '@millrace/schedule';

/** An export or a backfill that has intervals to be exported. */
export interface Plannable {
  id: string;
  interval: ExportInterval;
  timezone: string;
  start_at: Date | null;
  end_at: Date | null;
  next_interval_start: Date;
  next_interval_end: Date;
}

/** Locks an export whose next interval has ended by then (`SettledUntil`). */
export async function lockDueExport(tx: Transaction, settledUntil: Date): Promise<Plannable | undefined> {
  const rows = await tx.query<Plannable & Record<string, unknown>>(
    `SELECT id, "interval", timezone, start_at, end_at, next_interval_start, next_interval_end
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

/** A run may be made before its interval has ended (the last one of a backfill); it is not done before. */
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

export interface PlannableBackfill {
  id: string;
  batch_export_id: string;
  interval: ExportInterval;
  timezone: string;
  end_at: Date;
  next_interval_start: Date | null;
  has_failed_run: boolean;
}

/** Locks a backfill of which no run is open: its runs are to be made, or it can be closed. */
export async function lockOpenBackfill(tx: Transaction): Promise<PlannableBackfill | undefined> {
  const rows = await tx.query<PlannableBackfill & Record<string, unknown>>(
    `SELECT b.id, b.batch_export_id, e."interval", e.timezone, b.end_at, b.next_interval_start,
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
