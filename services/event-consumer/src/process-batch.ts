// The main flow of this service: from a batch of log records to rows in the database, step by step.

import type { SqlDatabase } from '@millrace/db/sql';
import { advanceOffset, lockOffset } from '@millrace/event-log';
import { type BatchReport, type BatchWork, lastRecord, offsetKey, type StaleBatch } from './batch.ts';
import { replaceCookielessIds } from './cookieless/replace-visitors.ts';
import type { CookielessSalts } from './cookieless/salts.ts';
import type { DeadLetterLog } from './dead-letters.ts';
import { decideEvents } from './decide.ts';
import type { DefinitionRecorder } from './definitions/definitions.ts';
import type { FlagCallRecorder } from './definitions/flag-calls.ts';
import type { EventPartitions } from './events/partitions.ts';
import {
  findFreshEvents,
  insertEvents,
  insertIdentities,
  markEventsIngested,
  toEventIdentities,
} from './events/store.ts';
import { admitRecords } from './intake/admit.ts';
import { toIncomingEvent } from './intake/incoming-event.ts';
import { listOwners, parseRecords } from './intake/parse.ts';
import type { ProjectResolver } from './intake/projects.ts';
import { loadLedger } from './ledger/load.ts';
import { saveLedger } from './ledger/save.ts';
import { lockAndChangeGroups, saveGroups } from './ledger/save-groups.ts';
import { findTouchedIdsOfBatch, type KnownIds } from './ledger/touched.ts';
import { runBatchInTurn, type Turns } from './ledger/turns.ts';
import type { RecordStep } from './metrics.ts';
import type { Ledger } from './model/ledger.ts';
import { insertWarnings } from './warnings/store.ts';
import { toReusedUuidWarning, type WarningThrottle } from './warnings/warnings.ts';

/** The dependencies of `processBatch`, including process-wide caches. Created once, in start.ts. */
export interface ProcessBatchDeps {
  database: Pick<SqlDatabase, 'transaction'>;
  projects: Pick<ProjectResolver, 'resolve' | 'withoutEvents' | 'markAsHavingEvents'>;
  salts: CookielessSalts;
  partitions: EventPartitions;
  deadLetters: DeadLetterLog;
  turns: Turns<Ledger>;
  knownIds: KnownIds;
  throttle: WarningThrottle;
  definitions: Pick<DefinitionRecorder, 'note'>;
  flagCalls: Pick<FlagCallRecorder, 'note'>;
  startStepTimer: () => RecordStep;
  now: () => number;
}

/**
 * Processes one batch, from raw records to rows, in a constant number of statements. All effects and the new offset are
 * written in one transaction, so after a crash the records have taken effect exactly once or not at all. Several
 * batches of a process may be in flight. Batches that touch the same IDs take turns (ledger/turns.ts). For the lock
 * order, see ledger/store.ts.
 * @throws errors of any step, after the rollback. consume.ts classifies them. After a LedgerConflict or transient
 * error, call this function again.
 */
export async function processBatch(work: BatchWork, app: ProcessBatchDeps): Promise<BatchReport | StaleBatch> {
  const { batch, deadLetterReason, lockFirst } = work;
  const step = app.startStepTimer();

  // Parse the records and determine their projects. Remove records that cannot be processed, with a reason.
  const parsed = step('parse_records', parseRecords(batch, deadLetterReason));
  const projectOf = step('resolve_projects', await app.projects.resolve(listOwners(parsed)));
  const intake = step('admit_records', admitRecords(parsed, projectOf, app.now()));
  step(
    'replace_visitors',
    await replaceCookielessIds(intake.events, { projectOf, salts: app.salts, nowMs: app.now() }),
  );
  step('ensure_partitions', await app.partitions.ensure(intake.events.map(({ timestampMs }) => timestampMs)));
  const events = intake.events.map(toIncomingEvent);

  const effect = await runBatchInTurn(app.turns, (turns) =>
    app.database.transaction(async (tx) => {
      const storedOffset = step('lock_offset', await lockOffset(tx, offsetKey(work)));
      if (storedOffset !== (batch.continuesFrom ?? 0n)) return { isStale: true, nextOffset: storedOffset } as const;
      // Dead letters must be durable before the offset advances past their records.
      const { deadLetters } = intake;
      if (deadLetters.length > 0) step('append_dead_letters', await app.deadLetters.append(deadLetters));

      // Skip events whose outcome is already known. Store identities before this batch takes its turn, because another
      // transaction that stores the same identities can block this one.
      const { fresh, reused } = step('find_fresh', await findFreshEvents(tx, events));
      step('store_identities', await insertIdentities(tx, toEventIdentities(fresh)));

      // Decide in memory, based on the decisions of earlier batches in this process.
      const touched = findTouchedIdsOfBatch(fresh, app.knownIds);
      const turn = step('take_turn', await turns.take(touched.contested, { untilEnded: lockFirst }));
      const loaded = step('load_ledger', await loadLedger(tx, touched, { lockFirst, before: turn.before }));
      const decided = step('decide_events', decideEvents(fresh, loaded.ledger));
      turn.decided(loaded.ledger);

      // Write in bulk. Persons are locked as early as possible. A batch that builds on others stores its events while
      // it waits for their commit. Groups come last and together with the COMMIT, because many batches need locks on
      // the same groups.
      const buildsOnOthers = turn.before.length > 0;
      if (!buildsOnOthers) step('save_ledger', await saveLedger(tx, loaded));
      step('store_events', await insertEvents(tx, decided.rows, app.partitions));
      if (buildsOnOthers) {
        step('wait_for_earlier', await turn.untilCommitted());
        step('save_ledger', await saveLedger(tx, loaded));
      }
      step('mark_ingested', await markEventsIngested(tx, app.projects.withoutEvents(decided.projectIds)));
      const groups = step('lock_groups', await lockAndChangeGroups(tx, loaded.ledger));
      const found = [...reused.map(toReusedUuidWarning), ...decided.warnings, ...groups.warnings];
      const warnings = [...intake.warnings, ...app.throttle(found)];
      step(
        'commit',
        await tx.commitWith(() => [
          insertWarnings(tx, warnings),
          ...saveGroups(tx, groups),
          advanceOffset(tx, offsetKey(work), lastRecord(work)),
        ]),
      );
      return { isStale: false, fresh, touched, ledger: loaded.ledger, decided } as const;
    }),
  );
  if (effect.isStale) return { outcome: 'stale', nextOffset: effect.nextOffset };

  const { fresh, touched, ledger, decided } = effect;
  app.projects.markAsHavingEvents(decided.projectIds);
  app.knownIds.note(touched.distinctIds.keys());
  app.definitions.note(decided.rows, ledger);
  app.flagCalls.note(decided.rows);
  return {
    outcome: 'done',
    nextOffset: lastRecord(work).offset + 1n,
    stored: decided.rows.length,
    projectsStored: decided.projectIds,
    duplicates: events.length - fresh.length,
    dropped: [...intake.dropped, ...decided.dropped],
    deadLettered: intake.deadLetters.map(({ reason }) => reason),
  };
}
