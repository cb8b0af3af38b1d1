import type { Logger } from '@millrace/runtime';
import { partitionForKey } from './partition-for-key.ts';
import { createPartitionQueue, type PartitionQueue, type QueuedRecord } from './partition-queue.ts';

export interface TopicQueuesOptions {
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
