import type { Logger } from '@millrace/runtime';
import type { EachBatchPayload } from 'kafkajs';
import { backoffMs, sleep } from '../consume/backoff.ts';
import type { ConsumeMetrics } from '../consume/consume-metrics.ts';
import { cutBatch } from '../consume/cut-batch.ts';
import { type Delivery, deliver } from '../consume/deliver.ts';
import type { BatchContext, ConsumeOptions, LogRecord } from '../event-log.ts';
import type { AssignedPartition } from './assigned-partition.ts';
import type { KafkaCommits } from './kafka-commits.ts';
import type { StartPositions } from './start-positions.ts';
import { toLogRecord } from './to-log-record.ts';

export interface PartitionReaderDeps {
  consume: ConsumeOptions;
  logger: Logger;
  metrics: ConsumeMetrics;
  positions: StartPositions;
  commits: KafkaCommits;
}

/** How often a member tells that it is alive while a handler works; kafkajs drops those that come too soon. */
const keepAliveIntervalMs = 500;
const membershipLost = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID']);

/** Takes what kafkajs fetched for one partition and hands it over in batches. */
export function createPartitionReader(deps: PartitionReaderDeps) {
  const { consume, logger, metrics, positions, commits } = deps;
  const { topic, group } = consume;

  /** @param interruptAll told when the coordinator says that the group assembles anew. */
  async function read(
    partition: AssignedPartition,
    payload: EachBatchPayload,
    interruptAll: () => void,
  ): Promise<void> {
    const records = expectedRecords(partition, payload);
    // A moment's rest: kafkajs would come back at once with the same records.
    if (records === null) return sleep(20);
    const context = createContext(partition, payload, interruptAll);
    const keepAlive = setInterval(context.heartbeat, keepAliveIntervalMs);
    try {
      await deliverAll(partition, records, payload, context);
    } finally {
      clearInterval(keepAlive);
    }
  }

  /** The fetched records from the partition's position on; null when there is nothing to deliver of them now. */
  function expectedRecords(partition: AssignedPartition, { batch, isStale }: EachBatchPayload): LogRecord[] | null {
    const { position } = partition;
    if (position === null || partition.abort.signal.aborted || isStale()) return null;
    const records = batch.messages.map(toLogRecord).filter(({ offset }) => offset >= position);
    const first = records[0];
    if (first === undefined || !isContiguous(partition, position, first.offset)) {
      positions.seekAgain(partition);
      return null;
    }
    return records;
  }

  /** A hole before the first record is believed when it is there again after seeking to its beginning. */
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

  async function deliverAll(
    partition: AssignedPartition,
    records: LogRecord[],
    payload: EachBatchPayload,
    context: BatchContext,
  ): Promise<void> {
    let rest = records;
    while (rest.length > 0 && !partition.abort.signal.aborted) {
      const batch = {
        topic,
        partition: partition.partition,
        continuesFrom: partition.continuesFrom,
        records: cutBatch(rest, 0, consume.maxBatchRecords, consume.maxBatchBytes),
      };
      const delivery = await deliver(deps, batch, context);
      if (!accept(partition, delivery, payload)) return;
      const { position } = partition;
      rest = position === null ? [] : rest.filter(({ offset }) => offset >= position);
    }
  }

  /** True when the next batch may follow. */
  function accept(partition: AssignedPartition, delivery: Delivery, payload: EachBatchPayload): boolean {
    switch (delivery.outcome) {
      case 'done':
        advance(partition, delivery.nextOffset, payload);
        return true;
      case 'stale':
        partition.failures += 1;
        // The first time at once; a handler that says so again and again must not be asked at full speed.
        void positions.resumeFrom(
          partition,
          delivery.nextOffset,
          partition.failures > 1 ? backoffMs(partition.failures - 1) : 0,
        );
        return false;
      case 'failed':
        partition.failures += 1;
        void positions.resumeFromStored(partition, backoffMs(partition.failures));
        return false;
      case 'interrupted':
        return false;
    }
  }

  function advance(partition: AssignedPartition, nextOffset: bigint, payload: EachBatchPayload): void {
    partition.failures = 0;
    partition.suspectedGap = null;
    partition.position = nextOffset;
    partition.continuesFrom = nextOffset;
    payload.resolveOffset(String(nextOffset - 1n));
    commits.reached(partition.partition, nextOffset);
    metrics.lag(topic, group, partition.partition, Number(BigInt(payload.batch.highWatermark) - nextOffset));
  }

  return { read };
}

function createContext(
  partition: AssignedPartition,
  payload: EachBatchPayload,
  interruptAll: () => void,
): BatchContext {
  return {
    signal: partition.abort.signal,
    async heartbeat() {
      try {
        await payload.heartbeat();
      } catch (error) {
        if (membershipLost.has(String((error as { type?: unknown }).type))) interruptAll();
      }
    },
  };
}
