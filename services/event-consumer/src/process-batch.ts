import type { SqlDatabase, Transaction } from '@millrace/db/sql';
import { advanceOffset, type LogBatch, type LogRecord, lockOffset } from '@millrace/event-log';
import { replaceVisitors } from './cookieless/replace-visitors.ts';
import type { CookielessSalts } from './cookieless/salts.ts';
import type { DeadLetterLog } from './dead-letters/dead-letter-log.ts';
import { type DecideDeps, type DecidedBatch, decideBatch } from './decide-batch.ts';
import type { Definitions } from './definitions/definitions.ts';
import type { EventPartitions } from './events/event-partitions.ts';
import { insertEvents } from './events/event-store.ts';
import { markEventsIngested } from './events/first-event-store.ts';
import { freshEvents } from './events/fresh-events.ts';
import { groupsToWrite, lockAndChangeGroups, saveGroups } from './groups/save-groups.ts';
import type { AdmittedEvent } from './intake/admit-event.ts';
import { admitRecords, type OwnerlessReason } from './intake/admit-records.ts';
import { ownersOf, parseRecords, type ReadingDepth } from './intake/parse-records.ts';
import type { ProjectResolver } from './intake/resolve-projects.ts';
import { UnreadableProperties } from './intake/unread-event.ts';
import { saveLedger } from './ledger/save-ledger.ts';
import type { Turn } from './ledger/turns.ts';
import type { DeadLetterReason } from './model/dead-letter.ts';
import type { DropReason } from './model/event-outcome.ts';
import type { Ledger } from './model/ledger.ts';
import type { WarningThrottle } from './warnings/throttle-warnings.ts';
import { insertWarnings } from './warnings/warning-store.ts';

export interface ProcessBatchDeps extends DecideDeps {
  database: Pick<SqlDatabase, 'transaction'>;
  projects: ProjectResolver;
  salts: CookielessSalts;
  partitions: EventPartitions;
  deadLetters: DeadLetterLog;
  definitions: Pick<Definitions, 'see' | 'note'>;
  throttle: WarningThrottle;
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
  dropped: (DropReason | OwnerlessReason)[];
  deadLettered: DeadLetterReason[];
  /** True for a batch that cost twice: some properties turned out to be unreadable only when the rules asked for them. */
  wasReadTwice?: boolean;
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
  // What is to be given up is looked at closely.
  if (work.verdict !== null) return processRecords(work, 'whole', deps);
  try {
    return await processRecords(work, 'heads', deps);
  } catch (error) {
    // Not the gateway's work. Now each record is asked before anything is done with it.
    if (!(error instanceof UnreadableProperties)) throw error;
    const report = await processRecords(work, 'whole', deps);
    return report.outcome === 'done' ? { ...report, wasReadTwice: true } : report;
  }
}

async function processRecords(
  work: BatchWork,
  depth: ReadingDepth,
  deps: ProcessBatchDeps,
): Promise<BatchReport | StaleBatch> {
  const { batch, group, lockFirst } = work;
  const { step } = deps;
  const key = { topic: batch.topic, partition: batch.partition, group, log: batch.log };
  const last = lastRecord(batch);

  const intake = await takeIn(work, depth, deps);
  const taken = intake.events.length;
  const held: Turn<Ledger>[] = [];
  let decided: DecidedBatch | undefined;
  let isCommitted = false;

  async function write(
    tx: Transaction,
    [storedOffset, fresh]: [bigint, AdmittedEvent[]],
  ): Promise<BatchReport | StaleBatch> {
    if (storedOffset !== (batch.continuesFrom ?? 0n)) return { outcome: 'stale', nextOffset: storedOffset };

    if (intake.deadLetters.length > 0) {
      await step('append_dead_letters', () => deps.deadLetters.append(intake.deadLetters));
    }
    const duplicates = taken - fresh.length;
    // Given away: they are not to be kept for as long as the batch takes.
    decided = await decideBatch(tx, fresh.splice(0), { lockFirst, onTurn: (turn) => held.push(turn) }, deps);
    const { turn, loaded, events, warnings, projectsStored } = decided;
    const save = () => step('save_ledger', () => saveLedger(tx, loaded));
    // Persons are locked as soon as may be, so that no other process comes between. What builds on another batch of
    // this process has to wait for its commit, and stores the events meanwhile.
    const buildsOnOthers = turn.before.length > 0;
    if (!buildsOnOthers) await save();
    await step('store_events', () => deps.partitions.watch(() => insertEvents(tx, events)));
    if (buildsOnOthers) {
      await step('wait_for_earlier', () => turn.untilCommitted());
      await save();
    }
    await step('mark_ingested', () => markEventsIngested(tx, deps.projects.withoutEvents(projectsStored)));
    const groups = groupsToWrite(loaded.ledger);
    // Whoever has this turn waits for nobody: the ids' turns come before it.
    held.push(await step('take_group_turn', () => deps.turns.take(new Set(groups.keys()), { untilEnded: true })));
    const changes = await step('lock_groups', () => lockAndChangeGroups(tx, loaded.ledger, [...groups.values()]));
    const allWarnings = [...intake.warnings, ...deps.throttle([...warnings, ...changes.warnings])];
    await step('commit', () =>
      tx.commitWith(() => [insertWarnings(tx, allWarnings), ...saveGroups(tx, changes), advanceOffset(tx, key, last)]),
    );

    return {
      outcome: 'done',
      nextOffset: last.offset + 1n,
      stored: events.count,
      projectsStored,
      duplicates,
      dropped: [...intake.dropped, ...decided.dropped],
      deadLettered: intake.deadLetters.map(({ reason }) => reason),
    };
  }

  const report = await deps.database
    .transaction(write, (tx) => [
      step('lock_offset', () => lockOffset(tx, key)),
      step('find_fresh', () => freshEvents(tx, intake.events.splice(0))),
    ])
    .then((done) => {
      isCommitted = true;
      return done;
    })
    .finally(() => {
      for (const turn of held) turn.end(isCommitted);
    });
  if (decided !== undefined) {
    deps.projects.noteEvents(decided.projectsStored);
    deps.knownIds.note(decided.distinctIds);
    deps.definitions.note(decided.seen);
  }
  return report;
}

/** A function of its own, so that what it read and no longer needs is not kept for as long as the batch takes. */
async function takeIn(
  { batch, verdict }: BatchWork,
  depth: ReadingDepth,
  { step, projects, salts, partitions, now }: ProcessBatchDeps,
) {
  const parsed = await step('parse_records', () => parseRecords(batch, { verdict, depth }));
  const projectOf = await step('resolve_projects', () => projects.resolve(ownersOf(parsed)));
  const intake = await step('admit_records', () => admitRecords(parsed, projectOf, now()));
  await step('replace_visitors', () => replaceVisitors(intake.events, { projectOf, salts, nowMs: now() }));
  await step('ensure_partitions', () => partitions.ensure(intake.events.map(({ timestampMs }) => timestampMs)));
  return intake;
}

function lastRecord(batch: LogBatch): LogRecord {
  const last = batch.records.at(-1);
  if (last === undefined) throw new Error('a batch holds at least one record');
  return last;
}
