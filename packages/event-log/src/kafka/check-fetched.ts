import type { Logger } from '@millrace/runtime';
import type { EachBatchPayload } from 'kafkajs';
import { type Truncation, truncatedPauseMs } from '../consume/truncation.ts';
import { recordMark } from '../offsets/record-mark.ts';
import type { ConsumeOptions, LogRecord } from '../port/event-log.ts';
import type { AssignedPartition } from './assigned-partition.ts';
import { newestLeaderEpoch } from './kafkajs-internals/leader-epoch.ts';
import type { StartPositions } from './start-positions.ts';
import { toLogRecord } from './to-log-record.ts';

export interface FetchCheckDeps {
  consume: Pick<ConsumeOptions, 'topic' | 'group'>;
  logger: Logger;
  positions: StartPositions;
  truncation: Truncation;
}

/** Pause before a partition is started again because the fetched records still do not fit. */
const beginAgainMs = 250;

/** Whether what kafkajs fetched is what comes next; else it has the partition begun anew. */
export function createFetchCheck({ consume, logger, positions, truncation }: FetchCheckDeps) {
  const { topic, group } = consume;

  /** The fetched records that come next; null when there is nothing to take of them now. */
  function expectedRecords(partition: AssignedPartition, { batch, isStale }: EachBatchPayload): LogRecord[] | null {
    const { fetchPosition } = partition;
    if (fetchPosition === null || partition.abort.signal.aborted || isStale()) return null;
    if (hasNewLeader(partition, newestLeaderEpoch(batch.messages))) return null;
    const records = batch.messages.map(toLogRecord).filter(({ offset }) => offset >= fetchPosition);
    const first = records[0];
    if (first === undefined && batch.messages.length > 0) {
      // kafkajs starts at the oldest record by itself when the log ends before the offset it was asked for.
      void positions.resumeFromStored(partition, beginAgainMs);
      return null;
    }
    if (first === undefined || !isContiguous(partition, fetchPosition, first.offset)) {
      positions.seekAgain(partition);
      return null;
    }
    partition.suspectedGap = null;
    return records;
  }

  /** A new leader may have lost records of the former one: reading starts again from what is known to be there. */
  function hasNewLeader(partition: AssignedPartition, epoch: number | null): boolean {
    if (epoch === null || partition.leaderEpoch === null || epoch <= partition.leaderEpoch) return false;
    void positions.resumeFromStored(partition, 0);
    return true;
  }

  /**
   * After a start the record before the first one is fetched too: it must be the one that took effect last.
   *
   * @returns the others; null when it is another one.
   */
  function afterRecordBefore(partition: AssignedPartition, records: LogRecord[]): LogRecord[] | null {
    const { recordBefore, continuesFrom, fetchPosition } = partition;
    if (recordBefore === null) return records;
    partition.recordBefore = null;
    const [first, ...rest] = records;
    // Compaction may have removed it; the offsets were without a hole before.
    if (first === undefined || first.offset !== fetchPosition) return records;
    partition.fetchPosition = continuesFrom;
    const found = recordMark(first);
    if (found === recordBefore) {
      truncation.over(partition.partition);
      return rest;
    }
    const stored = { nextOffset: continuesFrom ?? 0n, recordBefore };
    truncation.found(partition.partition, stored, { log: partition.log, expected: recordBefore, found });
    partition.missingRecord = recordBefore;
    void positions.resumeFromStored(partition, truncatedPauseMs);
    return null;
  }

  /** A hole before the first record counts when it is still there after seeking to where it begins. */
  function isContiguous(partition: AssignedPartition, position: bigint, first: bigint): boolean {
    if (first === position) return true;
    if (partition.suspectedGap !== first) {
      partition.suspectedGap = first;
      return false;
    }
    logger.warn('the log has no records between these offsets', {
      ...{ topic, group, partition: partition.partition },
      fromOffset: String(position),
      toOffset: String(first),
    });
    return true;
  }

  return { expectedRecords, afterRecordBefore };
}
