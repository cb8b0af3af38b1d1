// Types for a batch of log records and its result.

import type { LogBatch, LogRecord, OffsetKey } from '@millrace/event-log';
import type { DeadLetterReason } from './dead-letters.ts';
import type { OwnerlessReason } from './intake/admit.ts';
import type { DropReason } from './model/event.ts';

export interface BatchWork {
  batch: LogBatch;
  group: string;
  /** If set, all records in the batch become dead letters for this reason, without being processed. */
  deadLetterReason: DeadLetterReason | null;
  /**
   * Whether an earlier attempt failed because a concurrent batch changed the same rows. The retried batch then locks
   * the rows before it reads them.
   */
  lockFirst: boolean;
}

/** The result of a batch. Each list contains one item per event or record. */
export interface BatchReport {
  outcome: 'done';
  nextOffset: bigint;
  stored: number;
  projectsStored: number[];
  duplicates: number;
  dropped: (DropReason | OwnerlessReason)[];
  deadLettered: DeadLetterReason[];
}

/** Returned if the batch does not continue from the stored offset. In that case, nothing was written. */
export interface StaleBatch {
  outcome: 'stale';
  nextOffset: bigint;
}

export function offsetKey({ batch, group }: BatchWork): OffsetKey {
  return { topic: batch.topic, partition: batch.partition, group, log: batch.log };
}

export function lastRecord({ batch }: BatchWork): LogRecord {
  const last = batch.records.at(-1);
  if (last === undefined) throw new Error('a batch must contain at least one record');
  return last;
}
