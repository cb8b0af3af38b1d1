import { acknowledge } from './append-call.ts';
import {
  type PartitionQueue,
  type QueuedRecord,
  removeInFlight,
  removeSettled,
  takeOldest,
} from './partition-queue.ts';

export interface LeaderQueuesOptions {
  /** Bytes of one partition in one request at most. */
  maxBatchBytes: number;
  /** Bytes of one request at most. */
  maxRequestBytes: number;
  /** Told when records have left their queue, for the byte budget. */
  released(records: QueuedRecord[]): void;
}

/** What is sent of one queue in one request. */
export interface TakenBatch {
  queue: PartitionQueue;
  entries: QueuedRecord[];
}

/** The queues of the partitions of one leader, and how much waits in them. */
export function createLeaderQueues(options: LeaderQueuesOptions) {
  const queues = new Set<PartitionQueue>();
  let waitingBytes = 0;
  let waitingSince = 0;

  function enqueue(queue: PartitionQueue, entry: QueuedRecord): void {
    if (waitingBytes === 0) waitingSince = performance.now();
    waitingBytes += entry.bytes;
    queue.entries.push(entry);
    queues.add(queue);
  }

  /** The oldest records of each queue, as far as one request takes them. */
  function take(): TakenBatch[] {
    const taken: TakenBatch[] = [];
    let requestBytes = 0;
    for (const queue of [...queues]) {
      if (requestBytes >= options.maxRequestBytes) break;
      forget(queue);
      const entries = takeOldest(queue, Math.min(queue.maxBatchBytes, options.maxBatchBytes));
      // A queue goes to the end of the line each time, so that full requests do not leave a queue out for ever.
      queues.delete(queue);
      if (entries.length === 0) continue;
      queues.add(queue);
      const bytes = sumBytes(entries);
      requestBytes += bytes;
      waitingBytes -= bytes;
      taken.push({ queue, entries });
    }
    waitingSince = performance.now();
    return taken;
  }

  function forget(queue: PartitionQueue): void {
    const removed = removeSettled(queue);
    if (removed.length === 0) return;
    waitingBytes -= sumBytes(removed);
    options.released(removed);
  }

  return {
    enqueue,
    take,
    waitingBytes: () => waitingBytes,
    /** When the oldest record began to wait, or the last request was put together. */
    waitingSince: () => waitingSince,
    acknowledge({ queue, entries }: TakenBatch): void {
      options.released(removeInFlight(queue));
      for (const { call } of entries) acknowledge(call);
    },
    /** A batch that is to be sent again. */
    putBack({ queue, entries }: TakenBatch, error: Error): void {
      for (const { call } of entries) call.lastError = error;
      queue.inFlight = 0;
      waitingBytes += sumBytes(entries);
      forget(queue);
    },
    dismiss(queue: PartitionQueue): void {
      if (queues.delete(queue)) waitingBytes -= sumBytes(queue.entries);
    },
    /** Drops waiting records of calls that were settled in another way. */
    forgetSettled(): void {
      for (const queue of queues) forget(queue);
    },
  };
}

export function sumBytes(entries: QueuedRecord[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += entry.bytes;
  return bytes;
}
