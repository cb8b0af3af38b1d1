import type { Database } from '@millrace/db';
import { exportIntervalAt, nextExportInterval, type TimeSpan } from '@millrace/schedule';
import {
  insertRuns,
  lockDueExport,
  lockOpenBackfill,
  type PlannableBackfill,
  setNextInterval,
  updateBackfill,
} from './plan-store.ts';
import { readSettledUntil } from './settled-store.ts';

/** Runs of one backfill that wait or are in progress at the same time. */
const mostOpenRuns = 10;

/**
 * Makes the run of an interval that has ended and moves the export on, in one transaction: every interval gets exactly one
 * run, also those that ended while no worker was there.
 *
 * @returns whether there may be more.
 */
export async function planRun(database: Database, settleSeconds?: number): Promise<boolean> {
  const settledUntil = await readSettledUntil(database.sql, settleSeconds);
  if (settledUntil === null) return false;
  return database.transaction(async (tx) => {
    const due = await lockDueExport(tx, settledUntil);
    if (!due) return false;
    const span = { start: due.next_interval_start, end: due.next_interval_end };
    await insertRuns(tx, { exportId: due.id, backfillId: null }, [span]);
    await setNextInterval(tx, due.id, nextExportInterval(due, span.end));
    return true;
  });
}

/** Makes the next runs of a backfill, or closes it when all have ended. @returns whether there may be more. */
export async function planBackfill(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    const backfill = await lockOpenBackfill(tx, mostOpenRuns);
    if (!backfill) return false;
    const { id, next_interval_start: from, failed_runs } = backfill;
    if (from === null) {
      await updateBackfill(tx, id, { status: failed_runs > 0 ? 'Failed' : 'Completed', nextStart: null });
      return true;
    }
    const spans = nextSpans(from, backfill, mostOpenRuns - backfill.open_runs);
    await insertRuns(tx, { exportId: backfill.batch_export_id, backfillId: id }, spans);
    const reached = spans.at(-1)?.end ?? backfill.end_at;
    await updateBackfill(tx, id, { status: 'Running', nextStart: reached < backfill.end_at ? reached : null });
    return true;
  });
}

/** Whole intervals, but for the first and the last, which are cut to the range. */
function nextSpans(from: Date, { interval, timezone, end_at }: PlannableBackfill, most: number): TimeSpan[] {
  const spans: TimeSpan[] = [];
  for (let start = from; start < end_at && spans.length < most; ) {
    const whole = exportIntervalAt(interval, start, timezone);
    const end = whole.end < end_at ? whole.end : end_at;
    spans.push({ start, end });
    start = end;
  }
  return spans;
}
