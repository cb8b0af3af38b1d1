import type { Logger } from '@millrace/runtime';
import type { AppendCall } from './calls.ts';
import type { OutgoingRecord } from './transport.ts';

interface TopicQueuesOptions {
  topic: string;
  logger: Logger;
  leadersOf(topic: string): Promise<number[]>;
  /** A record has found its partition. */
  enqueue(queue: PartitionQueue, entry: QueuedRecord): void;
  /** A partition has got another leader. */
  moved(queue: PartitionQueue, fromLeader: number): void;
  /**
   * Records that waited for the topic's layout were moved to their queues, or dropped because their call was settled.
   */
  routed(left: QueuedRecord[]): void;
}

const retryDelayMs = 200;
/** How long a layout is trusted before it is looked up again in the background. */
const layoutMaxAgeMs = 60_000;

/** The partitions of one topic. Until their number is known records wait here, in order. */
export function createTopicQueues(options: TopicQueuesOptions) {
  const { topic, logger } = options;
  const queues: PartitionQueue[] = [];
  const unrouted: QueuedRecord[] = [];
  let isLoading = false;
  let loadedAt = Number.NEGATIVE_INFINITY;
  // A random start, so that many processes that start together do not all begin at partition 0.
  let nextSpread = Math.floor(Math.random() * 1024);

  function add(entry: QueuedRecord): void {
    if (queues.length === 0) unrouted.push(entry);
    else route(entry);
    if (performance.now() - loadedAt > layoutMaxAgeMs) void load();
  }

  function route(entry: QueuedRecord): void {
    const { keyBytes } = entry.record;
    const partition = keyBytes === null ? nextSpread++ % queues.length : partitionForKey(keyBytes, queues.length);
    const queue = queues[partition];
    if (queue !== undefined) options.enqueue(queue, entry);
  }

  async function load(): Promise<void> {
    if (isLoading) return;
    isLoading = true;
    try {
      apply(await options.leadersOf(topic));
      loadedAt = performance.now();
    } catch (error) {
      for (const { call } of unrouted) call.lastError = error as Error;
      logger.debug('the layout of a topic could not be read', { topic, error });
      if (unrouted.length > 0) setTimeout(load, retryDelayMs).unref();
    } finally {
      isLoading = false;
    }
  }

  function apply(leaders: number[]): void {
    leaders.forEach((leader, partition) => {
      const queue = queues[partition];
      if (queue === undefined) {
        queues.push(createPartitionQueue(topic, partition, leader));
      } else if (queue.leader !== leader && queue.inFlight === 0) {
        const from = queue.leader;
        queue.leader = leader;
        options.moved(queue, from);
      }
    });
    if (queues.length === 0) return;
    const waiting = unrouted.splice(0);
    for (const entry of waiting) if (!entry.call.isSettled) route(entry);
    options.routed(waiting.filter(({ call }) => call.isSettled));
  }

  return {
    add,
    /** The next record has the layout looked up again. */
    refresh(): void {
      loadedAt = Number.NEGATIVE_INFINITY;
    },
    /** Drops waiting records of calls that were settled in another way. */
    forgetSettled(): QueuedRecord[] {
      const left = unrouted.filter(({ call }) => call.isSettled);
      if (left.length > 0) unrouted.splice(0, unrouted.length, ...unrouted.filter(({ call }) => !call.isSettled));
      return left;
    },
  };
}

export type TopicQueues = ReturnType<typeof createTopicQueues>;

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

function createPartitionQueue(topic: string, partition: number, leader: number): PartitionQueue {
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
