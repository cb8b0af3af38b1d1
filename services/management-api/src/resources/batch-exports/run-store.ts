import type { Sql, Transaction } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import type { TimePosition } from '../../time/time-position.ts';

export interface RunRow {
  id: string;
  batch_export: string;
  backfill: string | null;
  status: string;
  records_completed: number | null;
  latest_error: string | null;
  data_interval_start: Date;
  data_interval_end: Date;
  created_at: Date;
  finished_at: Date | null;
  last_updated_at: Date;
}
type Row = RunRow & Record<string, unknown>;

/** A server's own words about what went wrong may be long. */
const maxErrorLength = 2000;

const columns = `r.id, r.batch_export_id AS batch_export, r.backfill_id AS backfill, r.status, r.records_completed,
  left(r.latest_error, ${maxErrorLength}) AS latest_error, r.data_interval_start, r.data_interval_end, r.created_at, r.finished_at, r.last_updated_at`;

/** The last ten runs of each of some exports, the newest first: one statement for all. */
export async function latestRuns(sql: Sql, exportIds: string[]): Promise<RunRow[]> {
  return sql.query<Row>(
    `SELECT ${columns} FROM unnest($1::uuid[]) AS wanted (id)
       JOIN LATERAL (SELECT * FROM batch_export_run WHERE batch_export_id = wanted.id
                      ORDER BY created_at DESC, id DESC LIMIT 10) r ON true
      ORDER BY r.created_at DESC, r.id DESC`,
    [exportIds],
  );
}

/** Runs of an export that were triggered within a span of time, the newest first, from a position on. */
export async function listRuns(
  sql: Sql,
  exportId: string,
  {
    after,
    before,
    position,
    limit,
  }: { after: Date | null; before: Date | null; position: TimePosition | null; limit: number },
): Promise<RunRow[]> {
  const where = createConditions();
  where.add(`r.batch_export_id = ${where.parameter(exportId)}`);
  if (after) where.add(`r.created_at > ${where.parameter(after)}`);
  if (before) where.add(`r.created_at < ${where.parameter(before)}`);
  if (position) {
    // The cursor knows milliseconds: of the rows of its millisecond those with a smaller id are left.
    const [time, id] = [where.parameter(position.timestamp), where.parameter(position.id)];
    where.add(`(date_trunc('milliseconds', r.created_at), r.id) < (${time}::timestamptz, ${id}::uuid)`);
  }
  return sql.query<Row>(
    `SELECT ${columns} FROM batch_export_run r WHERE ${where.text()}
      ORDER BY date_trunc('milliseconds', r.created_at) DESC, r.id DESC LIMIT ${where.parameter(limit)}`,
    where.values,
  );
}

/** Whether a run covers what was stored in its interval, as scheduled ones do, instead of events by their own time. */
export async function isByStoredTime(sql: Sql, { backfill }: Pick<RunRow, 'backfill'>): Promise<boolean> {
  if (backfill === null) return true;
  const rows = await sql.query<{ by_stored_time: boolean }>(
    'SELECT by_stored_time FROM batch_export_backfill WHERE id = $1',
    [backfill],
  );
  return rows[0]?.by_stored_time ?? false;
}

export async function findRun(sql: Sql, exportId: string, id: string): Promise<RunRow | undefined> {
  const rows = await sql.query<Row>(
    `SELECT ${columns} FROM batch_export_run r WHERE r.batch_export_id = $1 AND r.id = $2`,
    [exportId, id],
  );
  return rows[0];
}

/** @returns whether it was still to be done. */
export async function cancelRun(tx: Transaction, id: string): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE batch_export_run SET status = 'Cancelled', finished_at = now(), last_updated_at = now()
      WHERE id = $1 AND status IN ('Starting', 'Running', 'FailedRetryable') RETURNING id`,
    [id],
  );
  return rows.length > 0;
}
