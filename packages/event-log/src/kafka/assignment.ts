import type { Logger } from '@millrace/runtime';
import type { ConsumeMetrics } from '../consume/consume-metrics.ts';
import type { ConsumeOptions } from '../port/event-log.ts';
import { type AssignedPartition, createAssignedPartition } from './assigned-partition.ts';
import type { StartPositions } from './start-positions.ts';
import type { TopicReader } from './topic-state.ts';
import type { WaitingRecords } from './waiting-records.ts';

export interface AssignmentDeps {
  consume: Pick<ConsumeOptions, 'topic' | 'group'>;
  logger: Logger;
  metrics: ConsumeMetrics;
  topics: TopicReader;
  waiting: WaitingRecords;
  positions: StartPositions;
  stopping: AbortSignal;
}

/** The partitions this member holds in the current generation of its group. */
export function createAssignment({ consume, logger, metrics, topics, waiting, positions, stopping }: AssignmentDeps) {
  const { topic, group } = consume;
  const partitions = new Map<number, AssignedPartition>();

  /**
   * Whatever was assigned before: all positions are looked up again, because other members may have moved the stored
   * offsets.
   */
  function beginGeneration(assigned: number[]): void {
    const before = endGeneration();
    for (const partition of before.keys()) {
      if (!assigned.includes(partition)) forget(partition);
    }
    if (!stopping.aborted) {
      for (const number of assigned) {
        const partition = createAssignedPartition(number);
        partitions.set(number, partition);
        void positions.beginFromStored(partition, before.get(number)?.delivery ?? null);
      }
    }
    logger.info('joined a consumer group', { topic, group, partitions: assigned });
  }

  /** @returns what this member held. */
  function endGeneration(): Map<number, AssignedPartition> {
    interruptAll();
    const held = new Map(partitions);
    partitions.clear();
    return held;
  }

  /** The group is rebalancing: finish the batches in hand, begin nothing new. */
  function interruptAll(): void {
    for (const partition of partitions.values()) {
      partition.abort.abort();
      waiting.clear(partition);
    }
  }

  /** A broker that comes back may have lost records, or be another one: the stored offsets are looked up again. */
  function beginAllAnew(): void {
    for (const partition of partitions.values()) void positions.resumeFromStored(partition, 0);
  }

  async function checkIdentity(): Promise<void> {
    if (partitions.size === 0) return;
    const log = await topics.logOf(topic).catch(() => null);
    for (const partition of partitions.values()) {
      if (log === null || partition.log === '' || partition.log === log) continue;
      logger.warn('the topic is another one than before', { topic, group, partition: partition.partition, log });
      void positions.resumeFromStored(partition, 0);
    }
  }

  function forget(partition: number): void {
    metrics.forgetLag(topic, group, partition);
    metrics.truncated(topic, group, partition, false);
  }

  return {
    get: (partition: number) => partitions.get(partition),
    all: () => [...partitions.values()],
    beginGeneration,
    endGeneration,
    interruptAll,
    beginAllAnew,
    checkIdentity,
    forget,
  };
}
