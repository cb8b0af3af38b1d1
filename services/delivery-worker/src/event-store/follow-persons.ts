// Copies persons from PostgreSQL to ClickHouse.

import type { Database } from '@millrace/db';
import { copyPersonPortion, hasPersonTriggers, readCopiedUntil, stopRecordingPersons } from '@millrace/insights';
import type { Metrics } from '@millrace/runtime';
import type { CopyTarget } from './follow.ts';

export function createPersonCopyMetrics(metrics: Metrics) {
  return metrics.gauge(
    'millrace_event_store_person_lag_seconds',
    'Age of the newest data about persons known to be in ClickHouse, in seconds. 0 while queries read persons from PostgreSQL',
    [],
  );
}

interface PersonFollowerDeps {
  database: Pick<Database, 'sql' | 'transaction'>;
  target: CopyTarget;
  gauge: ReturnType<typeof createPersonCopyMetrics>;
}

/**
 * Creates a task that copies a batch of persons.
 * @returns a task that returns whether more persons may have to be copied
 */
export function createPersonFollower({ database, target, gauge }: PersonFollowerDeps): () => Promise<boolean> {
  const reportLag = (copiedUntil: Date | null) =>
    gauge.set(copiedUntil === null ? 0 : Math.max(0, (Date.now() - copiedUntil.getTime()) / 1000));
  return async () => {
    // Report the lag before copying too, so that it grows while ClickHouse does not respond.
    const step = await copyPersonPortion({ ...target, database }, { onBegin: reportLag });
    // If there is no step, another worker is copying, or a crashed worker's claim has not expired yet.
    reportLag(step === null ? (await readCopiedUntil(database.sql)).persons : step.copiedUntil);
    return step?.hasMore ?? false;
  };
}

/**
 * Stops recording changes to persons if persons are no longer copied to ClickHouse.
 * @returns false, because the task never has more work immediately
 */
export async function stopRecordingPersonChanges({ sql, transaction }: PersonFollowerDeps['database']): Promise<false> {
  if (await hasPersonTriggers(sql)) await transaction(stopRecordingPersons);
  return false;
}
