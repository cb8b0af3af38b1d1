import type { Sql, SqlDatabase, Transaction } from '@millrace/db/sql';
import { lockOffset } from '@millrace/event-log';
import { type BatchReport, type BatchWork, lastRecord, offsetKey, type StaleBatch } from './batch-work.ts';
import { type CommitDeps, commitBatch } from './commit-batch.ts';
import type { DeadLetterLog } from './dead-letters/dead-letter-log.ts';
import { type DecideDeps, type DecidedBatch, decideBatch } from './decide-batch.ts';
import type { Definitions } from './definitions/definitions.ts';
import type { EventPartitions } from './events/event-partitions.ts';
import { freshEvents } from './events/fresh-events.ts';
import type { FlagCalls } from './flag-calls/flag-calls.ts';
import type { AdmittedEvent } from './intake/admit-event.ts';
import type { Intake } from './intake/admit-records.ts';
import type { ParsingDepth } from './intake/parse-records.ts';
import type { ProjectResolver } from './intake/resolve-projects.ts';
import { UnreadableProperties } from './intake/unparsed-event.ts';
import { withTurns } from './ledger/with-turns.ts';
import { type TakeInDeps, takeIn } from './take-in.ts';
import { takeAll } from './values/take-all.ts';
import { type WriteDeps, writeBatch } from './write-batch.ts';

export interface ProcessBatchDeps extends TakeInDeps, DecideDeps, WriteDeps, CommitDeps {
  database: Pick<SqlDatabase, 'transaction'>;
  deadLetters: DeadLetterLog;
  definitions: Pick<Definitions, 'see' | 'note'>;
  flagCalls: Pick<FlagCalls, 'see' | 'note'>;
  partitions: EventPartitions;
  projects: ProjectResolver;
}

/**
 * The way of one batch, from raw records to rows, in a constant number of statements. All effects and the new offset are
 * one transaction: whatever dies, the records have taken effect exactly once or not at all.
 *
 * @throws whatever a step throws, after the rollback; consume.ts knows what it means. LedgerConflict and transient errors
 * ask for the same call again.
 */
export async function processBatch(work: BatchWork, deps: ProcessBatchDeps): Promise<BatchReport | StaleBatch> {
  // Records that are given up are parsed completely, to say what is wrong with each.
  if (work.deadLetterReason !== null) return processRecords(work, 'whole', deps);
  try {
    return await processRecords(work, 'heads', deps);
  } catch (error) {
    // The gateway did not write this record. Now every record is parsed completely before anything is done with it.
    if (!(error instanceof UnreadableProperties)) throw error;
    const report = await processRecords(work, 'whole', deps);
    return report.outcome === 'done' ? { ...report, wasReadTwice: true } : report;
  }
}

async function processRecords(
  work: BatchWork,
  depth: ParsingDepth,
  deps: ProcessBatchDeps,
): Promise<BatchReport | StaleBatch> {
  const intake = await takeIn(work, depth, deps);
  const taken = intake.events.length;
  const effect = await withTurns(deps.turns, (turns) =>
    deps.database.transaction<Effect | StaleBatch, Begun>(
      (tx, begun) => takeEffect(tx, { work, intake, begun }, { ...deps, turns }),
      (tx) => begin(tx, work, intake, deps),
    ),
  );
  if (effect.outcome === 'stale') return effect;
  remember(effect.decided, deps);
  return reportOf(work, intake, taken - effect.fresh, effect.decided);
}

type Begun = [storedOffset: bigint, fresh: AdmittedEvent[]];

/** Asked together with BEGIN: from where the offset moves, and which of the events are new. */
function begin(
  tx: Sql,
  work: BatchWork,
  { events }: Intake,
  { step }: ProcessBatchDeps,
): [Promise<bigint>, Promise<AdmittedEvent[]>] {
  return [
    step('lock_offset', () => lockOffset(tx, offsetKey(work))),
    step('find_fresh', () => freshEvents(tx, takeAll(events))),
  ];
}

/** What is committed. */
interface Effect {
  outcome: 'done';
  decided: DecidedBatch;
  /** Events that were decided. */
  fresh: number;
}

/** All that the batch does in its transaction. */
async function takeEffect(
  tx: Transaction,
  { work, intake, begun: [storedOffset, fresh] }: { work: BatchWork; intake: Intake; begun: Begun },
  deps: ProcessBatchDeps,
): Promise<Effect | StaleBatch> {
  if (storedOffset !== (work.batch.continuesFrom ?? 0n)) return { outcome: 'stale', nextOffset: storedOffset };
  const count = fresh.length;
  await appendDeadLetters(intake, deps);
  const decided = await decideBatch(tx, takeAll(fresh), work, deps);
  await writeBatch(tx, decided, deps);
  await commitBatch(tx, work, decided, intake.warnings, deps);
  return { outcome: 'done', decided, fresh: count };
}

/** Before the commit: dead letters must be durable before the offset moves behind their records. */
async function appendDeadLetters({ deadLetters }: Intake, deps: ProcessBatchDeps): Promise<void> {
  if (deadLetters.length === 0) return;
  await deps.step('append_dead_letters', () => deps.deadLetters.append(deadLetters));
}

/** What this process need not ask or write again, now that the batch is committed. */
function remember(decided: DecidedBatch, { projects, knownIds, definitions, flagCalls }: ProcessBatchDeps): void {
  projects.noteEvents(decided.projectsStored);
  knownIds.note(decided.distinctIds);
  definitions.note(decided.seen);
  flagCalls.note(decided.flagCalls);
}

function reportOf(work: BatchWork, intake: Intake, duplicates: number, decided: DecidedBatch): BatchReport {
  return {
    outcome: 'done',
    nextOffset: lastRecord(work).offset + 1n,
    stored: decided.events.count,
    projectsStored: decided.projectsStored,
    duplicates,
    dropped: [...intake.dropped, ...decided.dropped],
    deadLettered: intake.deadLetters.map(({ reason }) => reason),
  };
}
