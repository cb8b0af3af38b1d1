import type { Consumer } from 'kafkajs';
import { sleep } from '../consume/backoff.ts';
import type { LogRecord } from '../port/event-log.ts';
import type { AssignedPartition } from './assigned-partition.ts';
import { whileRunning } from './while-running.ts';

/** About what a record holds beside its value: key, headers, offsets. */
const recordOverheadBytes = 256;
const mebibyte = 1024 * 1024;
/**
 * A partition with more than this waiting is not fetched from, so that a slow partition leaves room for the others.
 * Twice as much would cost the consumer a tenth of its CPU time, in garbage collection of records that have become old
 * before they are handled.
 */
const partitionLimitBytes = mebibyte / 2;
/** With more than this waiting in all partitions nothing is fetched. */
const limitBytes = 4 * mebibyte;
const keepAliveMs = 500;

/**
 * Records that were fetched ahead, so that a handler that is free finds its next batch and never waits for a fetch.
 * kafkajs alone fetches only when everything it fetched has been handled.
 */
export function createWaitingRecords(consumer: Pick<Consumer, 'pause' | 'resume'>, topic: string) {
  let bytes = 0;
  let announceRoom: () => void = () => {};

  function add(partition: AssignedPartition, records: LogRecord[]): void {
    const last = records.at(-1);
    if (last === undefined) return;
    partition.waiting = partition.waiting.length === 0 ? records : partition.waiting.concat(records);
    partition.fetchPosition = last.offset + 1n;
    change(partition, sizeOf(records));
    if (isFull(partition) && !partition.isHeldBack) {
      partition.isHeldBack = true;
      whileRunning(() => consumer.pause([{ topic, partitions: [partition.partition] }]));
    }
  }

  /** Takes away the records below the offset. */
  function removeBelow(partition: AssignedPartition, offset: bigint): void {
    const kept = partition.waiting.findIndex((record) => record.offset >= offset);
    const removed = kept === -1 ? partition.waiting : partition.waiting.slice(0, kept);
    partition.waiting = kept === -1 ? [] : partition.waiting.slice(kept);
    change(partition, -sizeOf(removed));
    if (partition.isHeldBack && !isFull(partition)) {
      partition.isHeldBack = false;
      whileRunning(() => consumer.resume([{ topic, partitions: [partition.partition] }]));
    }
  }

  /** Forgets the waiting records. The caller then has the partition fetched again, from another position. */
  function clear(partition: AssignedPartition): void {
    partition.waiting = [];
    partition.isHeldBack = false;
    partition.fetchPosition = null;
    change(partition, -partition.waitingBytes);
  }

  function change(partition: AssignedPartition, by: number): void {
    partition.waitingBytes += by;
    bytes += by;
    if (by < 0) announceRoom();
  }

  return {
    add,
    removeBelow,
    clear,
    /** Resolves when there is room for more. Keeps telling the coordinator meanwhile that this member is alive. */
    async room(heartbeat: () => Promise<void>): Promise<void> {
      while (bytes >= limitBytes) {
        const made = new AbortController();
        announceRoom = () => made.abort();
        await sleep(keepAliveMs, made.signal);
        await heartbeat();
      }
    },
  };
}

export type WaitingRecords = ReturnType<typeof createWaitingRecords>;

/** While one large record is worked on, the next is fetched. */
function isFull({ waiting, waitingBytes }: AssignedPartition): boolean {
  return waitingBytes >= partitionLimitBytes && waiting.length > 1;
}

function sizeOf(records: readonly LogRecord[]): number {
  return records.reduce((sum, { value }) => sum + value.length + recordOverheadBytes, 0);
}
