import type { LogBatch, LogRecord, OffsetKey } from '@millrace/event-log';
import type { DeadLetterReason } from './dead-letters.ts';
import type { OwnerlessReason } from './intake/admit.ts';
import type { DropReason } from './model/event.ts';

export interface BatchWork {
  batch: LogBatch;
  /** Consumer group whose offset moves. */
  group: string;
  /** Set to give up all records of the batch for this reason instead of processing them. */
  deadLetterReason: DeadLetterReason | null;
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
}

/** The stored offset is not the one the batch continues from; nothing was done. */
export interface StaleBatch {
  outcome: 'stale';
  nextOffset: bigint;
}

/** Whose offset moves when the batch is committed. */
export function offsetKey({ batch, group }: BatchWork): OffsetKey {
  return { topic: batch.topic, partition: batch.partition, group, log: batch.log };
}

/** The record the offset moves behind. */
export function lastRecord({ batch }: BatchWork): LogRecord {
  const last = batch.records.at(-1);
  if (last === undefined) throw new Error('a batch must contain at least one record');
  return last;
}
