// Validates time ranges for backfills, and stores backfills.

import { maxBackfillRuns } from '@millrace/contracts';
import type { Columns, Sql, Transaction } from '@millrace/db';
import { formatDateTime, parseDateTime } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type ExportRhythm, findExportInterval, splitIntoExportSpans, type TimeSpan } from '@millrace/schedule';
import { type BatchExportRow, buildOrder } from './store.ts';

export interface Range {
  start: Date;
  end: Date;
}

/** Maximum number of running backfills per export. */
const maxRunning = 10;

/**
 * Starts a backfill of a time range (docs/api/batch-exports.md#runs-and-backfills). If a backfill of the same range is
 * running, it continues.
 * @param byStoredTime whether events are selected by the time when they were stored, as in scheduled runs, or by their
 *   own timestamp
 * @param exported a batch export that this transaction has locked
 * @throws AppError `invalid` if the backfill would need too many runs, or if too many other backfills are running
 * @returns the ID of the backfill, and whether this call started it
 */
export async function startBackfill(
  tx: Transaction,
  exported: BatchExportRow,
  { byStoredTime = false, ...range }: Range & { byStoredTime?: boolean },
): Promise<{ id: string; hasBegun: boolean }> {
  listRunRanges(range, exported);
  const exportId = exported.id;
  const id = `${exportId}-Backfill-${formatDateTime(range.start)}-${formatDateTime(range.end)}`;
  if ((await countOtherRunning(tx, { exportId, id })) >= maxRunning) {
    throw refusal(
      `An export can have at most ${maxRunning} backfills running at the same time. Wait until one finishes, or cancel one.`,
    );
  }
  return { id, hasBegun: await upsertBackfill(tx, { id, exportId, ...range, byStoredTime }) };
}

/**
 * Parses the time range of a backfill request.
 * @throws AppError `invalid` if a time is missing, is invalid or has no offset, or if the range is empty or ends more
 * than one interval from now
 */
export function parseRange(
  { start_at, end_at }: { start_at?: unknown; end_at?: unknown },
  rhythm: ExportRhythm,
  now: Date,
): Range {
  if (start_at == null || end_at == null) throw refusal("Both 'start_at' and 'end_at' must be specified");
  const [start, end] = [parseTime(start_at), parseTime(end_at)];
  if (start >= end) throw refusal("The initial backfill datetime 'start_at' happens after 'end_at'");
  const current = findExportInterval(rhythm, now);
  if (end.getTime() - now.getTime() > current.end.getTime() - current.start.getTime()) {
    throw refusal(
      `The provided 'end_at' (${formatDateTime(end)}) is too far into the future. Cannot backfill beyond 1 batch period into the future.`,
    );
  }
  return { start, end };
}

/** Lists the time ranges of a backfill's runs, in order. @throws AppError `invalid` for too many runs */
export function listRunRanges(range: Range, rhythm: ExportRhythm): TimeSpan[] {
  const spans: TimeSpan[] = [];
  for (const span of splitIntoExportSpans(range, rhythm)) {
    if (spans.push(span) <= maxBackfillRuns) continue;
    throw refusal(
      `A backfill can have at most ${maxBackfillRuns} runs. The range from ${formatDateTime(range.start)} to ` +
        `${formatDateTime(range.end)} needs more than that with the interval '${rhythm.interval}'. Split the range into several backfills.`,
    );
  }
  return spans;
}

function parseTime(value: unknown): Date {
  const text = String(value).slice(0, 100);
  const time = typeof value === 'string' ? parseDateTime(text) : null;
  if (!time) throw refusal(`Input ${text} is not a valid ISO formatted datetime.`);
  if (!/(z|[+-]\d\d(:?\d\d)?)$/i.test(text) || /^\d{4}-\d\d-\d\d$/.test(text)) throw refusal(`Input ${text} is naive.`);
  return time;
}

function refusal(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input' });
}

export interface BackfillRow
  extends Columns<
    'batch_export_backfill',
    'id' | 'start_at' | 'end_at' | 'status' | 'created_at' | 'finished_at' | 'last_updated_at'
  > {
  batch_export: string;
  team: number;
  total_runs: number;
  finished_runs: number;
}

/**
 * Stores a backfill. An existing backfill continues if it is running, and restarts if it has ended.
 * @returns whether this call started the backfill
 */
async function upsertBackfill(
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

async function countOtherRunning(tx: Transaction, { exportId, id }: { exportId: string; id: string }): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM batch_export_backfill
      WHERE batch_export_id = $1 AND id <> $2 AND status = 'Running'`,
    [exportId, id],
  );
  return rows[0]?.count ?? 0;
}

export const backfillOrders = ['-created_at', 'created_at', '-start_at', 'start_at'] as const;

/** Returns a page of an export's backfills, sorted by `ordering`, and the total count. */
export async function listBackfills(
  sql: Sql,
  exportId: string,
  { limit, offset, ordering }: { limit: number; offset: number; ordering: (typeof backfillOrders)[number] },
): Promise<{ count: number; rows: BackfillRow[] }> {
  const { column, direction } = buildOrder(ordering);
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM batch_export_backfill WHERE batch_export_id = $1',
      [exportId],
    ),
    sql.query<BackfillRow & Record<string, unknown>>(
      `SELECT b.id, b.batch_export_id AS batch_export, e.environment_id AS team, b.start_at, b.end_at, b.status,
              b.created_at, b.finished_at, b.last_updated_at, r.total_runs, r.finished_runs
         FROM (SELECT * FROM batch_export_backfill b WHERE b.batch_export_id = $1
                ORDER BY b.${column} ${direction}, b.id ${direction} LIMIT $2 OFFSET $3) AS b
         JOIN batch_export e ON e.id = b.batch_export_id
         JOIN LATERAL (SELECT count(*)::int AS total_runs, count(finished_at)::int AS finished_runs
                         FROM batch_export_run WHERE backfill_id = b.id AND created_at >= b.created_at) r ON true
        ORDER BY b.${column} ${direction}, b.id ${direction}`,
      [exportId, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}

/** Cancels a backfill. Returns the previous status, or undefined if the backfill does not exist. */
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
