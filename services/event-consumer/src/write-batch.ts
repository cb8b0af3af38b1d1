import type { Transaction } from '@millrace/db/sql';
import type { DecidedBatch } from './decide-batch.ts';
import type { EventPartitions } from './events/event-partitions.ts';
import { insertEvents } from './events/event-store.ts';
import { markEventsIngested } from './events/first-event-store.ts';
import type { ProjectResolver } from './intake/resolve-projects.ts';
import { saveLedger } from './ledger/save-ledger.ts';
import type { StepTimer } from './step-timer.ts';

export interface WriteDeps {
  partitions: Pick<EventPartitions, 'watch'>;
  projects: Pick<ProjectResolver, 'withoutEvents'>;
  step: StepTimer;
}

/**
 * Writes what was decided about persons, ids, group types and events. Persons are locked as early as possible, so that
 * no other process comes between. A batch that builds on another one of this process has to wait for the commit of that
 * one, and stores its events meanwhile.
 *
 * @throws LedgerConflict when another batch was faster; PartitionMissing as `EventPartitions.watch` does.
 */
export async function writeBatch(
  tx: Transaction,
  { turn, loaded, events, projectsStored }: DecidedBatch,
  { step, partitions, projects }: WriteDeps,
): Promise<void> {
  const save = () => step('save_ledger', () => saveLedger(tx, loaded));
  const buildsOnOthers = turn.before.length > 0;
  if (!buildsOnOthers) await save();
  await step('store_events', () => partitions.watch(() => insertEvents(tx, events)));
  if (buildsOnOthers) {
    await step('wait_for_earlier', () => turn.untilCommitted());
    await save();
  }
  await step('mark_ingested', () => markEventsIngested(tx, projects.withoutEvents(projectsStored)));
}
