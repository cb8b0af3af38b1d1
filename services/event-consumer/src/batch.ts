// Types of a batch of log records: what the consumer has to do, and what it reports afterwards.

import type { LogBatch, LogRecord, OffsetKey } from '@millrace/event-log';
import type { DeadLetterReason } from './dead-letters.ts';
import type { OwnerlessReason } from './intake/admit.ts';
import type { DropReason } from './model/event.ts';

export interface BatchWork {
  batch: LogBatch;
  /** Consumer group whose offset advances. */
  group: string;
  /** If set, all records of the batch become dead letters for this reason, without being processed. */
  deadLetterReason: DeadLetterReason | null;
  /** True if the batch lost a race before. It then waits for locks first, so that it does not lose again. */
  lockFirst: boolean;
}

/** Result of a batch. The lists contain one entry per event or record concerned. */
export interface BatchReport {
  outcome: 'done';
  nextOffset: bigint;
  stored: number;
  /** IDs of the projects of the stored events. */
  projectsStored: number[];
  duplicates: number;
  dropped: (DropReason | OwnerlessReason)[];
  deadLettered: DeadLetterReason[];
}

/** The stored offset differs from the one that the batch continues from; nothing was done. */
export interface StaleBatch {
  outcome: 'stale';
  nextOffset: bigint;
}

/** Returns the key of the offset that advances when the batch is committed. */
export function offsetKey({ batch, group }: BatchWork): OffsetKey {
  return { topic: batch.topic, partition: batch.partition, group, log: batch.log };
}

/** Returns the last record, after which the offset continues. */
export function lastRecord({ batch }: BatchWork): LogRecord {
  const last = batch.records.at(-1);
  if (last === undefined) throw new Error('a batch must contain at least one record');
  return last;
}
