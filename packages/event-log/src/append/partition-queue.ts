import type { AppError } from '@millrace/runtime';
import type { OutgoingRecord } from './transport.ts';

/** One call of `append`. It settles when all of its records are in the log, or at the first permanent failure. */
export interface AppendCall {
  readonly isSettled: boolean;
  /** The error of the last attempt. If the call expires, this error becomes the cause of its rejection. */
  lastError: Error | null;
  /** Counts one of the call's records as written. */
  acknowledge(): void;
  fail(error: AppError): void;
}

export interface QueuedRecord {
  record: OutgoingRecord;
  bytes: number;
  call: AppendCall;
}

/**
 * The queue of records to append to one partition, oldest first. The first `inFlight` records are in a request that is
 * being sent.
 */
export interface PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  entries: QueuedRecord[];
  inFlight: number;
  waitingBytes: number;
  /** The time (`performance.now()`) when the oldest record that is not in flight began to wait. */
  waitingSince: number;
  /** The maximum batch size in bytes, which decreases when the server rejects a batch as too large. */
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

/**
 * Marks the oldest records as in flight and returns them. Takes at least one record, and otherwise at most `maxBytes`.
 */
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

export function removeInFlight(queue: PartitionQueue): void {
  queue.entries.splice(0, queue.inFlight);
  queue.inFlight = 0;
}

export function requeueInFlight(queue: PartitionQueue): void {
  queue.waitingBytes += sumBytes(queue.entries.slice(0, queue.inFlight));
  queue.inFlight = 0;
}

/**
 * Removes waiting records whose call has already settled. Calls expire oldest first, so these records are at the front.
 *
 * @returns the number of removed bytes
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
 * Returns a key's partition, based on the murmur2 hash of its UTF-8 bytes, like the default partitioner of the Java
 * client. All producers of a topic therefore choose the same partition, whatever their language and adapter.
 */
export function partitionForKey(key: Buffer, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions;
}

/**
 * Computes a 32-bit MurmurHash2 with Kafka's seed. Uses `Math.imul` instead of 64-bit arithmetic, because it runs once
 * per record.
 */
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
