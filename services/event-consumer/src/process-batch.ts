import type { Database } from '@millrace/db';
import type { LogBatch } from '@millrace/event-log';
import type { DeadLetterReason } from './dead-letters/dead-letter.ts';
import type { DeadLetterLog } from './dead-letters/dead-letter-log.ts';
import { decideEvents } from './decide-events.ts';
import type { Definitions } from './definitions/definitions.ts';
import { insertIdentities } from './events/event-identity-store.ts';
import type { DropReason } from './events/event-outcome.ts';
import type { EventPartitions } from './events/event-partitions.ts';
import { insertEvents } from './events/event-store.ts';
import { markEventsIngested } from './events/first-event-store.ts';
import { freshEvents, identitiesOf } from './events/fresh-events.ts';
import { groupsToWrite, saveGroups } from './groups/save-groups.ts';
import type { KnownIds } from './identity/known-ids.ts';
import { loadLedger } from './identity/load-ledger.ts';
import { saveLedger } from './identity/save-ledger.ts';
import { touchedByBatch } from './identity/touched-by-batch.ts';
import type { Turns } from './identity/turns.ts';
import { admitRecords, eventsOf } from './intake/admit-records.ts';
import { parseRecords, tokensOf } from './intake/parse-records.ts';
import type { ProjectResolver } from './intake/resolve-projects.ts';
import { advanceOffset, lockOffset } from './offsets/offset-store.ts';
import type { StepTimer } from './step-timer.ts';
import type { WarningThrottle } from './warnings/throttle-warnings.ts';
import { insertWarnings } from './warnings/warning-store.ts';

export interface ProcessBatchDeps {
  database: Pick<Database, 'transaction'>;
  projects: ProjectResolver;
  partitions: EventPartitions;
  deadLetters: DeadLetterLog;
  /** Both are one for all batches of the process. */
  turns: Turns;
  knownIds: KnownIds;
  definitions: Pick<Definitions, 'note'>;
  throttle: WarningThrottle;
  step: StepTimer;
  now: () => number;
}

export interface BatchWork {
  batch: LogBatch;
  /** Consumer group whose offset moves. */
  group: string;
  /** Set to give up all records of the batch for this reason instead of processing them. */
  verdict: DeadLetterReason | null;
  /** Set when the batch lost a race before: it then waits for others instead of losing again. */
  lockFirst: boolean;
}

/** What a batch came to. The lists hold one entry per event or record concerned. */
export interface BatchReport {
  outcome: 'done';
  nextOffset: bigint;
  stored: number;
  /** Projects that got at least one of the stored events. */
  projectsStored: number[];
  duplicates: number;
  dropped: (DropReason | 'invalid_token')[];
  deadLettered: DeadLetterReason[];
}

/** The stored offset is not the one the batch continues from; nothing was done. */
export interface StaleBatch {
  outcome: 'stale';
  nextOffset: bigint;
}

/**
 * The way of one batch, from raw records to rows, in a constant number of statements. All effects and the new offset are
 * one transaction: whatever dies, the records have taken effect exactly once or not at all.
 *
 * @throws whatever a step throws, after the rollback; consume.ts knows what it means. LedgerMoved and transient errors
 * ask for the same call again.
 */
export async function processBatch(work: BatchWork, deps: ProcessBatchDeps): Promise<BatchReport | StaleBatch> {
  const { batch, group, verdict, lockFirst } = work;
  const { step } = deps;
  const key = { topic: batch.topic, partition: batch.partition, group };
  const nextOffset = offsetAfter(batch);

  const parsed = await step('parse_records', () => parseRecords(batch, verdict));
  const projects = await step('resolve_projects', () => deps.projects.resolve(tokensOf(parsed)));
  const intake = await step('admit_records', () => admitRecords(parsed, projects, deps.now()));
  await step('ensure_partitions', () =>
    deps.partitions.ensure(eventsOf(intake.events).map(({ timestampMs }) => timestampMs)),
  );

  let endTurn = () => {};
  let endGroupTurn = () => {};
  let afterCommit = () => {};
  const report = await deps.database
    .transaction(async (tx): Promise<BatchReport | StaleBatch> => {
      const storedOffset = await step('lock_offset', () => lockOffset(tx, key));
      if (storedOffset !== (batch.continuesFrom ?? 0n)) return { outcome: 'stale', nextOffset: storedOffset };

      if (intake.deadLetters.length > 0) {
        await step('append_dead_letters', () => deps.deadLetters.append(intake.deadLetters));
      }
      const fresh = await step('find_fresh', () => freshEvents(tx, intake.events));
      const touched = touchedByBatch(eventsOf(fresh), deps.knownIds);
      endTurn = await step('take_turn', () => deps.turns.take(touched.contested));
      const loaded = await step('load_ledger', () => loadLedger(tx, touched, { lockFirst }));
      const decisions = await step('decide_events', () => decideEvents(fresh, loaded.ledger));
      afterCommit = () => {
        deps.knownIds.note(touched.distinctIds.keys());
        deps.definitions.note(decisions.rows, loaded.ledger);
      };
      await step('save_ledger', () => saveLedger(tx, loaded));
      await step('store_identities', () => insertIdentities(tx, identitiesOf(fresh)));
      await step('store_events', () => deps.partitions.watch(() => insertEvents(tx, decisions.rows)));
      await step('store_warnings', () =>
        insertWarnings(tx, [...intake.warnings, ...deps.throttle(decisions.warnings)]),
      );
      const projectsStored = [...new Set(decisions.rows.map(({ projectId }) => projectId))];
      await step('mark_ingested', () => markEventsIngested(tx, deps.projects.withoutEvents(projectsStored)));
      const groups = groupsToWrite(loaded.ledger);
      // Whoever has this turn waits for nobody: the ids' turns come before it.
      endGroupTurn = await step('take_group_turn', () => deps.turns.take(new Set(groups.keys())));
      await step('save_groups', () => saveGroups(tx, loaded.ledger, [...groups.values()]));
      await step('advance_offset', () => advanceOffset(tx, key, nextOffset));

      return {
        outcome: 'done',
        nextOffset,
        stored: decisions.rows.length,
        projectsStored,
        duplicates: intake.events.length - fresh.length,
        dropped: [...intake.dropped, ...decisions.dropped],
        deadLettered: intake.deadLetters.map(({ reason }) => reason),
      };
    })
    .finally(() => {
      endGroupTurn();
      endTurn();
    });
  if (report.outcome === 'done') {
    deps.projects.noteEvents(report.projectsStored);
    afterCommit();
  }
  return report;
}

function offsetAfter(batch: LogBatch): bigint {
  const last = batch.records.at(-1);
  if (last === undefined) throw new Error('a batch holds at least one record');
  return last.offset + 1n;
}
