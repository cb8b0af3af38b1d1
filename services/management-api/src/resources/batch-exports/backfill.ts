import { maxBackfillRuns } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { formatDateTime, parseDateTime } from '@millrace/http';
import { exportIntervalAt, exportSpans } from '@millrace/schedule';
import { countOtherRunning, upsertBackfill } from './backfill-store.ts';
import type { BatchExportRow } from './batch-export-store.ts';

export interface Range {
  start: Date;
  end: Date;
}

/** Backfills of one export. */
const maxRunning = 10;

/**
 * Asks for a range of the past (docs/api-rules.md#runs-and-backfills).
 *
 * @param byStoredTime events are taken by when they were stored, as the schedule does, instead of by their own time.
 * @param exported locked by this transaction.
 * @throws AppError `invalid` when it would make too many runs, or too many others are running.
 * @returns the id of the backfill, and whether it began by this: asked for again while it is running it goes on.
 */
export async function startBackfill(
  tx: Transaction,
  exported: BatchExportRow,
  { byStoredTime = false, ...range }: Range & { byStoredTime?: boolean },
): Promise<{ id: string; hasBegun: boolean }> {
  requireFewRuns(range, exported);
  const exportId = exported.id;
  const id = `${exportId}-Backfill-${formatDateTime(range.start)}-${formatDateTime(range.end)}`;
  if ((await countOtherRunning(tx, { exportId, id })) >= maxRunning) {
    throw refusal(`Only ${maxRunning} backfills of an export run at a time. Wait for one, or cancel it.`);
  }
  return { id, hasBegun: await upsertBackfill(tx, { id, exportId, ...range, byStoredTime }) };
}

/**
 * The range of a request to backfill.
 * @throws AppError `invalid`: a time that is missing, none, or without an offset; a range without an inside, or one that
 * ends more than one interval from now.
 */
export function parseRange(
  { start_at, end_at }: { start_at?: unknown; end_at?: unknown },
  { interval, timezone }: Pick<BatchExportRow, 'interval' | 'timezone'>,
  now: Date,
): Range {
  if (start_at == null || end_at == null) throw refusal("Both 'start_at' and 'end_at' must be specified");
  const [start, end] = [parseTime(start_at), parseTime(end_at)];
  if (start >= end) throw refusal("The initial backfill datetime 'start_at' happens after 'end_at'");
  const nextEnd = exportIntervalAt(interval, now, timezone).end;
  if (end.getTime() - now.getTime() > nextEnd.getTime() - exportIntervalAt(interval, now, timezone).start.getTime()) {
    throw refusal(
      `The provided 'end_at' (${formatDateTime(end)}) is too far into the future. Cannot backfill beyond 1 batch period into the future.`,
    );
  }
  return { start, end };
}

function requireFewRuns(range: Range, schedule: Pick<BatchExportRow, 'interval' | 'timezone'>): void {
  let runs = 0;
  for (const _span of exportSpans(range, schedule)) {
    runs += 1;
    if (runs <= maxBackfillRuns) continue;
    throw refusal(
      `A backfill makes at most ${maxBackfillRuns} runs, and from ${formatDateTime(range.start)} to ${formatDateTime(range.end)} the interval '${schedule.interval}' makes more. Ask for it in parts.`,
    );
  }
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
