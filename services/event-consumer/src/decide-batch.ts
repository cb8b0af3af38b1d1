import type { Transaction } from '@millrace/db/sql';
import type { BatchWork } from './batch-work.ts';
import { decideEvents } from './decide-events.ts';
import type { Definitions } from './definitions/definitions.ts';
import type { SeenDefinitions } from './definitions/see-definitions.ts';
import { insertIdentities } from './events/event-identity-store.ts';
import { type WrittenEvents, writeEvents } from './events/event-store.ts';
import { identitiesOf } from './events/fresh-events.ts';
import type { FlagCall } from './flag-calls/flag-call-store.ts';
import type { FlagCalls } from './flag-calls/flag-calls.ts';
import type { AdmittedEvent } from './intake/admit-event.ts';
import { buildOn } from './ledger/build-on.ts';
import { forgetDeleted } from './ledger/forget-deleted.ts';
import type { KnownIds } from './ledger/known-ids.ts';
import { type LoadedLedger, loadLedger } from './ledger/load-ledger.ts';
import { touchedByBatch } from './ledger/touched-by-batch.ts';
import type { Turn, Turns } from './ledger/turns.ts';
import type { DropReason } from './model/event-outcome.ts';
import type { Ledger } from './model/ledger.ts';
import type { StepTimer } from './step-timer.ts';
import type { StoredWarning } from './warnings/warning-store.ts';

export interface DecideDeps {
  /** Ended with the batch (ledger/with-turns.ts). */
  turns: Turns<Ledger>;
  knownIds: KnownIds;
  definitions: Pick<Definitions, 'see'>;
  flagCalls: Pick<FlagCalls, 'see'>;
  step: StepTimer;
}

/** All there is to write of a decided batch, and to remember once it is committed. */
export interface DecidedBatch {
  turn: Turn<Ledger>;
  loaded: LoadedLedger;
  events: WrittenEvents;
  warnings: StoredWarning[];
  dropped: DropReason[];
  /** Projects with at least one event to store. */
  projectsStored: number[];
  /** Distinct ids that have a person once the batch is committed, as `KnownIds` names them. */
  distinctIds: string[];
  seen: SeenDefinitions;
  flagCalls: FlagCall[];
}

/**
 * Decides events and returns only what is to be written. The rows are bytes, which the garbage collector does not copy.
 * As objects the events would be copied twice while the database is at work, and the copies would be kept for long.
 *
 * The identities of the events are stored before the turn is taken, because a batch that has a turn must not wait for
 * events any more (the order of locks, ledger/ledger-store.ts).
 *
 * @param fresh not decided before (`freshEvents`). Nobody else should hold on to them.
 * @throws LedgerConflict as `insertIdentities` and `loadLedger` do; UnreadableProperties as `decideEvents` does.
 */
export async function decideBatch(
  tx: Transaction,
  fresh: AdmittedEvent[],
  { lockFirst }: Pick<BatchWork, 'lockFirst'>,
  { step, knownIds, turns, definitions, flagCalls }: DecideDeps,
): Promise<DecidedBatch> {
  await step('store_identities', () => insertIdentities(tx, identitiesOf(fresh)));
  const touched = touchedByBatch(fresh, knownIds);
  const turn = await step('take_turn', () => turns.take(touched.contested, { untilEnded: lockFirst }));
  const loaded = await step('load_ledger', () => loadLedger(tx, touched, { lockFirst }));
  return step('decide_events', () => {
    for (const earlier of turn.before) buildOn(earlier, loaded, touched);
    forgetDeleted(loaded);
    const { rows, warnings, dropped } = decideEvents(fresh, loaded.ledger);
    turn.decided(loaded.ledger);
    return {
      turn,
      loaded,
      events: writeEvents(rows),
      warnings,
      dropped,
      projectsStored: [...new Set(rows.map(({ projectId }) => projectId))],
      distinctIds: [...touched.distinctIds.keys()],
      seen: definitions.see(rows, loaded.ledger),
      flagCalls: flagCalls.see(rows),
    };
  });
}
