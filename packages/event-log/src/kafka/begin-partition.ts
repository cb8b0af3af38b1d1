import type { Consumer } from 'kafkajs';
import type { Truncation } from '../consume/truncation.ts';
import type { ConsumeOptions, StoredOffset } from '../port/event-log.ts';
import type { AssignedPartition } from './assigned-partition.ts';
import type { TopicState } from './topic-state.ts';

export interface BeginPartitionDeps {
  consume: Pick<ConsumeOptions, 'topic' | 'group'>;
  consumer: Pick<Consumer, 'resume' | 'seek'>;
  truncation: Truncation;
}

/** What was found out about where to begin. */
export interface FoundStart {
  stored: StoredOffset | null;
  state: TopicState;
  bounds: { low: bigint; high: bigint };
}

/** True when the log ends before the stored offset, or was seen to have another record before it. */
export function isMissing(
  partition: AssignedPartition,
  stored: StoredOffset | null,
  bounds: { high: bigint },
): boolean {
  if (stored === null) return false;
  if (stored.nextOffset > bounds.high) return true;
  return stored.recordBefore !== null && stored.recordBefore === partition.missingRecord;
}

/** Has a partition fetched from where its stored offset says. */
export function beginPartition(
  deps: BeginPartitionDeps,
  partition: AssignedPartition,
  { stored, state: { log, leaderEpochs }, bounds: { low } }: FoundStart,
): void {
  const {
    consumer,
    truncation,
    consume: { topic },
  } = deps;
  const start = stored === null || stored.nextOffset < low ? low : stored.nextOffset;
  if (stored !== null) truncation.deletedUnread(partition.partition, stored.nextOffset, low);
  // Retention may have removed it; then only the identity tells that this is the log.
  const isThere = stored !== null && stored.recordBefore !== null && start > low && start === stored.nextOffset;
  if (!isThere) truncation.over(partition.partition);
  partition.log = log;
  partition.leaderEpoch = leaderEpochs.get(partition.partition) ?? null;
  partition.missingRecord = null;
  partition.recordBefore = isThere ? stored.recordBefore : null;
  partition.continuesFrom = stored?.nextOffset ?? null;
  partition.fetchPosition = isThere ? start - 1n : start;
  partition.suspectedGap = null;
  consumer.seek({ topic, partition: partition.partition, offset: String(partition.fetchPosition) });
  consumer.resume([{ topic, partitions: [partition.partition] }]);
}
