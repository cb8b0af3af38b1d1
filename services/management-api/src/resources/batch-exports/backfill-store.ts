import type { Sql, Transaction } from '@millrace/db';

export interface BackfillRow {
  id: string;
  batch_export: string;
  team: number;
  start_at: Date;
  end_at: Date;
  status: string;
  total_runs: number;
  finished_runs: number;
  created_at: Date;
  finished_at: Date | null;
  last_updated_at: Date;
}

/**
 * Asks for a range; one that is running already goes on, one that has ended is done again.
 * @returns whether it began by this.
 */
export async function upsertBackfill(
  tx: Transaction,
  {
    id,
    exportId,
    start,
    end,
    byStoredTime,
  }: { id: string; exportId: string; start: Date; end: Date; byStoredTime: boolean },
): Promise<boolean> {
  const begun = await tx.query(
    `INSERT INTO batch_export_backfill AS b (id, batch_export_id, start_at, end_at, next_interval_start, by_stored_time)
     VALUES ($1, $2, $3, $4, $3, $5)
     ON CONFLICT (id) DO UPDATE
        SET status = 'Running', next_interval_start = excluded.start_at, created_at = now(), finished_at = NULL,
            last_updated_at = now(), by_stored_time = excluded.by_stored_time
      WHERE b.status <> 'Running'
     RETURNING id`,
    [id, exportId, start, end, byStoredTime],
  );
  return begun.length > 0;
}

export async function countOtherRunning(
  tx: Transaction,
  { exportId, id }: { exportId: string; id: string },
): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM batch_export_backfill
      WHERE batch_export_id = $1 AND id <> $2 AND status = 'Running'`,
    [exportId, id],
  );
  return rows[0]?.count ?? 0;
}

/** One page of an export's backfills, the newest first, and how many there are. */
export async function listBackfills(
  sql: Sql,
  exportId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: BackfillRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM batch_export_backfill WHERE batch_export_id = $1',
      [exportId],
    ),
    sql.query<BackfillRow & Record<string, unknown>>(
      `SELECT b.id, b.batch_export_id AS batch_export, e.environment_id AS team, b.start_at, b.end_at, b.status,
              b.created_at, b.finished_at, b.last_updated_at, r.total_runs, r.finished_runs
         FROM batch_export_backfill b
         JOIN batch_export e ON e.id = b.batch_export_id
         JOIN LATERAL (SELECT count(*)::int AS total_runs, count(finished_at)::int AS finished_runs
                         FROM batch_export_run WHERE backfill_id = b.id AND created_at >= b.created_at) r ON true
        WHERE b.batch_export_id = $1
        ORDER BY b.created_at DESC, b.id DESC LIMIT $2 OFFSET $3`,
      [exportId, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}

/** @returns its status before, undefined when there is none. */
export async function cancelBackfill(tx: Transaction, exportId: string, id: string): Promise<string | undefined> {
  const rows = await tx.query<{ status: string }>(
    'SELECT status FROM batch_export_backfill WHERE batch_export_id = $1 AND id = $2 FOR UPDATE',
    [exportId, id],
  );
  if (rows[0]?.status !== 'Running') return rows[0]?.status;
  await tx.query(
    `UPDATE batch_export_backfill SET status = 'Cancelled', finished_at = now(), last_updated_at = now() WHERE id = $1`,
    [id],
  );
  await tx.query(
    `UPDATE batch_export_run SET status = 'Cancelled', finished_at = now(), last_updated_at = now()
      WHERE backfill_id = $1 AND status IN ('Starting', 'Running', 'FailedRetryable')`,
    [id],
  );
  return 'Running';
}
