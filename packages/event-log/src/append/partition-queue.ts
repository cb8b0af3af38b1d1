import type { AppendCall } from './append-call.ts';
import type { OutgoingRecord } from './append-transport.ts';

export interface QueuedRecord {
  record: OutgoingRecord;
  bytes: number;
  call: AppendCall;
}

/** Records waiting for one partition, oldest first. The first `inFlight` of them are in a request right now. */
export interface PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  leader: number;
  entries: QueuedRecord[];
  inFlight: number;
  /** Shrinks when the server refuses a batch as too large. */
  maxBatchBytes: number;
}

export function createPartitionQueue(topic: string, partition: number, leader: number): PartitionQueue {
  return { topic, partition, leader, entries: [], inFlight: 0, maxBatchBytes: Number.POSITIVE_INFINITY };
}

/** Marks the oldest records as in flight, up to `maxBytes` (at least one), and returns them. */
export function takeOldest(queue: PartitionQueue, maxBytes: number): QueuedRecord[] {
  let bytes = 0;
  let count = 0;
  for (const entry of queue.entries) {
    if (count > 0 && bytes + entry.bytes > maxBytes) break;
    bytes += entry.bytes;
    count += 1;
  }
  queue.inFlight = count;
  return queue.entries.slice(0, count);
}

/** Takes the records in flight off the queue: they are in the log, or given up. */
export function removeInFlight(queue: PartitionQueue): QueuedRecord[] {
  const removed = queue.entries.splice(0, queue.inFlight);
  queue.inFlight = 0;
  return removed;
}

/** Takes waiting records off the queue whose call has been settled already. Calls expire oldest first, so they lead. */
export function removeSettled(queue: PartitionQueue): QueuedRecord[] {
  let end = queue.inFlight;
  while (queue.entries[end]?.call.isSettled) end += 1;
  return queue.entries.splice(queue.inFlight, end - queue.inFlight);
}
