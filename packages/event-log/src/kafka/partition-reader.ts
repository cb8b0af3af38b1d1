import type { EachBatchPayload } from 'kafkajs';
import { sleep } from '../consume/backoff.ts';
import type { AssignedPartition } from './assigned-partition.ts';
import { createFetchCheck, type FetchCheckDeps } from './check-fetched.ts';
import { createPartitionDelivery, type PartitionDeliveryDeps } from './partition-delivery.ts';

export interface PartitionReaderDeps extends FetchCheckDeps, PartitionDeliveryDeps {
  consume: PartitionDeliveryDeps['consume'];
  /** Called when the group rebalances. */
  interruptAll(): void;
}

const membershipLost = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID']);

/** Takes what kafkajs fetched: checks it, puts it aside, and has it handed over. */
export function createPartitionReader(deps: PartitionReaderDeps) {
  const { waiting } = deps;
  const { expectedRecords, afterRecordBefore } = createFetchCheck(deps);
  const { deliverWaiting } = createPartitionDelivery(deps);

  /** Resolves when kafkajs may fetch more. */
  async function read(partition: AssignedPartition, payload: EachBatchPayload): Promise<void> {
    const fetched = expectedRecords(partition, payload);
    // A short pause: kafkajs would come back at once with the same records.
    if (fetched === null) return sleep(20);
    const records = afterRecordBefore(partition, fetched);
    if (records === null) return;
    partition.highWatermark = BigInt(payload.batch.highWatermark);
    partition.heartbeat = () => heartbeat(payload);
    waiting.add(partition, records);
    payload.resolveOffset(String(fetched.at(-1)?.offset));
    deliverWaiting(partition);
    await waiting.room(partition.heartbeat);
  }

  async function heartbeat(payload: EachBatchPayload): Promise<void> {
    try {
      await payload.heartbeat();
    } catch (error) {
      if (membershipLost.has(String((error as { type?: unknown }).type))) deps.interruptAll();
    }
  }

  return { read };
}
