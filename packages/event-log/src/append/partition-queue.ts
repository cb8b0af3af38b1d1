import type { AppError } from '@millrace/runtime';
import type { OutgoingRecord } from './transport.ts';

/** One call of `append`: settled once, when all of its records are in the log or the first thing goes wrong. */
export interface AppendCall {
  readonly isSettled: boolean;
  /** Why the last attempt failed; becomes the cause when the call expires. */
  lastError: Error | null;
  /** One of its records is in the log. */
  acknowledge(): void;
  fail(error: AppError): void;
}

export interface QueuedRecord {
  record: OutgoingRecord;
  bytes: number;
  call: AppendCall;
}

/** Records for one partition, oldest first. The first `inFlight` of them are in a request right now. */
export interface PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  entries: QueuedRecord[];
  inFlight: number;
  /** Of the records that are not in flight. */
  waitingBytes: number;
  /** `performance.now()` when the oldest of them began to wait. */
  waitingSince: number;
  /** Shrinks when the server refuses a batch as too large. */
  maxBatchBytes: number;
}

export function createPartitionQueue(topic: string, partition: number): PartitionQueue {
  const maxBatchBytes = Number.POSITIVE_INFINITY;
  return { topic, partition, entries: [], inFlight: 0, waitingBytes: 0, waitingSince: 0, maxBatchBytes };
}

export function enqueue(queue: PartitionQueue, entry: QueuedRecord): void {
  if (queue.waitingBytes === 0) queue.waitingSince = performance.now();
  queue.waitingBytes += entry.bytes;
  queue.entries.push(entry);
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
  queue.waitingBytes -= bytes;
  queue.waitingSince = performance.now();
  return queue.entries.slice(0, count);
}

/** Takes the records in flight off the queue: they are in the log, or given up. */
export function removeInFlight(queue: PartitionQueue): void {
  queue.entries.splice(0, queue.inFlight);
  queue.inFlight = 0;
}

/** What was in flight waits again, ahead of the others. */
export function putBack(queue: PartitionQueue): void {
  queue.waitingBytes += sumBytes(queue.entries.slice(0, queue.inFlight));
  queue.inFlight = 0;
}

/**
 * Takes waiting records off the queue whose call has been settled already. Calls expire oldest first, so they lead.
 *
 * @returns their bytes.
 */
export function removeSettled(queue: PartitionQueue): number {
  let end = queue.inFlight;
  while (queue.entries[end]?.call.isSettled) end += 1;
  const bytes = sumBytes(queue.entries.splice(queue.inFlight, end - queue.inFlight));
  queue.waitingBytes -= bytes;
  return bytes;
}

export function sumBytes(entries: readonly QueuedRecord[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += entry.bytes;
  return bytes;
}

/**
 * The partition of a key: murmur2 over its UTF-8 bytes, as the Java client's default partitioner computes it, so that
 * every producer of a topic (ours, other languages', both adapters) puts one key into one partition.
 */
export function partitionForKey(key: Buffer, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions;
}

/** MurmurHash2, 32 bit, with the seed Kafka uses. `Math.imul` instead of 64-bit arithmetic: it runs once per record. */
export function murmur2(bytes: Buffer): number {
  const m = 0x5bd1e995;
  const length = bytes.length;
  let hash = 0x9747b28c ^ length;
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    let word = bytes.readInt32LE(i);
    word = Math.imul(word, m);
    word ^= word >>> 24;
    word = Math.imul(word, m);
    hash = Math.imul(hash, m) ^ word;
  }
  const rest = length - i;
  if (rest === 3) hash ^= (bytes[i + 2] ?? 0) << 16;
  if (rest >= 2) hash ^= (bytes[i + 1] ?? 0) << 8;
  if (rest >= 1) {
    hash ^= bytes[i] ?? 0;
    hash = Math.imul(hash, m);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, m);
  return hash ^ (hash >>> 15);
}
