import type { Logger } from '@millrace/runtime';
import { backoffMs } from '../consume/backoff.ts';
import type { ConsumeMetrics } from '../consume/consume-metrics.ts';
import { cutBatch } from '../consume/cut-batch.ts';
import { type Delivery, deliver } from '../consume/deliver.ts';
import { limitConcurrency } from '../consume/limit-concurrency.ts';
import type { BatchContext, ConsumeOptions } from '../port/event-log.ts';
import type { AssignedPartition } from './assigned-partition.ts';
import type { KafkaCommits } from './kafka-commits.ts';
import type { StartPositions } from './start-positions.ts';
import type { WaitingRecords } from './waiting-records.ts';

export interface PartitionDeliveryDeps {
  consume: ConsumeOptions;
  logger: Logger;
  metrics: ConsumeMetrics;
  positions: StartPositions;
  waiting: WaitingRecords;
  commits: KafkaCommits;
}

/** Hands over what waits, `partitionConcurrency` partitions at once, one batch after the other. */
export function createPartitionDelivery(deps: PartitionDeliveryDeps) {
  const { consume, metrics, positions, waiting, commits } = deps;
  const { topic, group } = consume;
  const whenFree = limitConcurrency(consume.partitionConcurrency);

  /** After each batch the partition goes to the end of the line. */
  function deliverWaiting(partition: AssignedPartition): void {
    if (partition.delivery !== null || partition.waiting.length === 0) return;
    partition.delivery = whenFree(() => deliverNext(partition)).then(() => {
      partition.delivery = null;
      deliverWaiting(partition);
    });
  }

  async function deliverNext(partition: AssignedPartition): Promise<void> {
    const { signal } = partition.abort;
    if (signal.aborted || partition.waiting.length === 0) return;
    const batch = {
      topic,
      partition: partition.partition,
      log: partition.log,
      continuesFrom: partition.continuesFrom,
      records: cutBatch(partition.waiting, 0, consume.maxBatchRecords, consume.maxBatchBytes),
    };
    const context: BatchContext = { signal, heartbeat: partition.heartbeat };
    accept(partition, await deliver(deps, batch, context));
  }

  function accept(partition: AssignedPartition, delivery: Delivery): void {
    switch (delivery.outcome) {
      case 'done':
        advance(partition, delivery.nextOffset);
        return;
      case 'stale':
        partition.failures += 1;
        // The first time at once. A handler that reports it again and again must not be called at full speed.
        void positions.resumeFrom(
          partition,
          delivery.nextOffset,
          partition.failures > 1 ? backoffMs(partition.failures - 1) : 0,
        );
        return;
      case 'failed':
        partition.failures += 1;
        void positions.resumeFromStored(partition, backoffMs(partition.failures));
        return;
      case 'interrupted':
        return;
    }
  }

  function advance(partition: AssignedPartition, nextOffset: bigint): void {
    partition.failures = 0;
    partition.continuesFrom = nextOffset;
    waiting.removeBelow(partition, nextOffset);
    commits.reached(partition.partition, nextOffset);
    metrics.lag(topic, group, partition.partition, Number(partition.highWatermark - nextOffset));
  }

  return { deliverWaiting };
}
