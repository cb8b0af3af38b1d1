// Creates batch export runs: one for each past interval, and all runs of a requested backfill.

import { maxBackfillRuns } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { nextExportInterval, splitIntoExportSpans } from '@millrace/schedule';
import type { SettledUntil } from './read.ts';
import { insertRuns, lockDueExport, lockOpenBackfill, setNextInterval, updateBackfill } from './store.ts';

export interface PlanRunDeps {
  database: Database;
  settledUntil: SettledUntil;
}

/**
 * Creates the run of an export's next interval and advances the export, in one transaction. Every interval gets exactly
 * one run, even if it ended while no worker was running.
 * @returns whether more runs may be due
 */
export async function planRun({ database, settledUntil }: PlanRunDeps): Promise<boolean> {
  const until = await settledUntil();
  if (until === null) return false;
  return database.transaction(async (tx) => {
    const due = await lockDueExport(tx, until);
    if (!due) return false;
    const span = { start: due.next_interval_start, end: due.next_interval_end };
    await insertRuns(tx, { exportId: due.id, backfillId: null }, [span]);
    await setNextInterval(tx, due.id, nextExportInterval(due, span.end));
    return true;
  });
}

/**
 * Creates all runs of a backfill, and completes the backfill when they have ended. A backfill whose export got a
 * shorter interval after the request may need more runs than the limit. The remaining runs are then created after the
 * first ones have ended.
 * @returns whether more backfills may be due
 */
export async function planBackfill(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    const backfill = await lockOpenBackfill(tx);
    if (!backfill) return false;
    const { id, next_interval_start: start, end_at: end, has_failed_run } = backfill;
    if (start === null) {
      await updateBackfill(tx, id, { status: has_failed_run ? 'Failed' : 'Completed', nextStart: null });
      return true;
    }
    const spans = firstOf(splitIntoExportSpans({ start, end }, backfill), maxBackfillRuns);
    await insertRuns(tx, { exportId: backfill.batch_export_id, backfillId: id }, spans);
    const reached = spans.at(-1)?.end ?? end;
    await updateBackfill(tx, id, { status: 'Running', nextStart: reached < end ? reached : null });
    return true;
  });
}

function firstOf<T>(things: Iterable<T>, most: number): T[] {
  const first: T[] = [];
  for (const thing of things) if (first.push(thing) === most) break;
  return first;
}
