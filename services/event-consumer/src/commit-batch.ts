import type { Transaction } from '@millrace/db/sql';
import { advanceOffset } from '@millrace/event-log';
import { type BatchWork, lastRecord, offsetKey } from './batch-work.ts';
import type { DecidedBatch } from './decide-batch.ts';
import { groupsToWrite, lockAndChangeGroups, saveGroups } from './groups/save-groups.ts';
import type { Turns } from './ledger/turns.ts';
import type { Ledger } from './model/ledger.ts';
import type { StepTimer } from './step-timer.ts';
import type { WarningThrottle } from './warnings/throttle-warnings.ts';
import { insertWarnings, type StoredWarning } from './warnings/warning-store.ts';

export interface CommitDeps {
  turns: Turns<Ledger>;
  throttle: WarningThrottle;
  step: StepTimer;
}

/**
 * Groups, warnings and the new offset, sent with the COMMIT itself: groups are locked for as short as possible.
 *
 * @param intakeWarnings stored whatever the rules decided.
 * @throws LedgerConflict when another batch created one of the groups first.
 */
export async function commitBatch(
  tx: Transaction,
  work: BatchWork,
  { loaded, warnings }: Pick<DecidedBatch, 'loaded' | 'warnings'>,
  intakeWarnings: readonly StoredWarning[],
  { step, turns, throttle }: CommitDeps,
): Promise<void> {
  const groups = groupsToWrite(loaded.ledger);
  // The batch has the turns of its ids already. A batch that holds this turn therefore waits for no other turn. It ends
  // with the batch.
  await step('take_group_turn', () => turns.take(new Set(groups.keys()), { untilEnded: true }));
  const changes = await step('lock_groups', () => lockAndChangeGroups(tx, loaded.ledger, [...groups.values()]));
  const allWarnings = [...intakeWarnings, ...throttle([...warnings, ...changes.warnings])];
  await step('commit', () =>
    tx.commitWith(() => [
      insertWarnings(tx, allWarnings),
      ...saveGroups(tx, changes),
      advanceOffset(tx, offsetKey(work), lastRecord(work)),
    ]),
  );
}
