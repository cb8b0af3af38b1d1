// Sends queued records to the log in batches, retries failed batches, and preserves the order in each partition.

import { AppError, type Logger, sleep } from '@millrace/runtime';
import type { AppendMetrics } from './metrics.ts';
import {
  createPartitionQueue,
  enqueue,
  type PartitionQueue,
  partitionForKey,
  type QueuedRecord,
  removeInFlight,
  removeSettled,
  requeueInFlight,
  sumBytes,
  takeOldest,
} from './partition-queue.ts';
import type { AppendSettings, AppendTransport, BatchRefusal } from './transport.ts';

interface SenderOptions {
  settings: AppendSettings;
  transport: AppendTransport;
  logger: Logger;
  metrics: AppendMetrics;
  /**
   * The number of accepted bytes whose calls have not settled. The sender subtracts the records that it removes from a
   * queue.
   */
  budget: { usedBytes: number };
}

interface Topic {
  readonly name: string;
  leaders: number[];
  /** The queues, indexed by partition. The array is empty until the number of partitions is known. */
  queues: PartitionQueue[];
  /** Records that arrived before the number of partitions was known, in arrival order. */
  unrouted: QueuedRecord[];
  isLoading: boolean;
  loadedAt: number;
  /**
   * A counter that increases with each record without a key. Modulo the number of partitions, it selects the partition
   * of the next record without a key.
   */
  nextSpread: number;
}

interface TakenBatch {
  queue: PartitionQueue;
  entries: QueuedRecord[];
}

const layoutRetryMs = 200;
/** When a topic's partition leaders are older than this, they are looked up again in the background. */
const layoutMaxAgeMs = 60_000;
const firstRetryDelayMs = 25;
const maxRetryDelayMs = 400;

/**
 * Queues records by partition and sends them to the partition leaders. Partitions with the same leader share a request,
 * and each leader and each partition has at most one request in flight. Leaders are looked up when records are sent.
 * The records of a partition therefore keep their order during retries, a slow leader does not delay others, and
 * batches get larger under load.
 */
export class Sender {
  private readonly options: SenderOptions;
  private readonly topics = new Map<string, Topic>();
  /**
   * Queues that are not empty. After its records are sent, a queue moves to the end, so that every queue makes progress
   * when requests are full.
   */
  private readonly filled = new Set<PartitionQueue>();
  /** Leaders with a request in flight, or in the delay after a failed request. */
  private readonly busy = new Set<number>();
  private readonly failures = new Map<number, number>();
  private bytesSinceLook = 0;
  private isClosing = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: SenderOptions) {
    this.options = options;
  }

  add(entry: QueuedRecord): void {
    const topic = this.topicOf(entry.record.topic);
    if (topic.queues.length === 0) topic.unrouted.push(entry);
    else this.route(topic, entry);
    if (performance.now() - topic.loadedAt > layoutMaxAgeMs) void this.loadLayout(topic);
  }

  private topicOf(name: string): Topic {
    let topic = this.topics.get(name);
    if (topic === undefined) {
      // Start at a random partition, so that processes started at the same time do not all begin with partition 0.
      const nextSpread = Math.floor(Math.random() * 1024);
      const loadedAt = Number.NEGATIVE_INFINITY;
      topic = { name, leaders: [], queues: [], unrouted: [], isLoading: false, loadedAt, nextSpread };
      this.topics.set(name, topic);
    }
    return topic;
  }

  private route(topic: Topic, entry: QueuedRecord): void {
    const { queues } = topic;
    const { keyBytes } = entry.record;
    const partition = keyBytes === null ? topic.nextSpread++ % queues.length : partitionForKey(keyBytes, queues.length);
    const queue = queues[partition];
    if (queue === undefined) throw new Error(`the topic ${topic.name} has no partition ${partition}`);
    enqueue(queue, entry);
    this.filled.add(queue);
    this.bytesSinceLook += entry.bytes;
  }

  private async loadLayout(topic: Topic): Promise<void> {
    if (topic.isLoading) return;
    topic.isLoading = true;
    try {
      topic.leaders = await this.options.transport.leadersOf(topic.name);
      topic.loadedAt = performance.now();
      for (let partition = topic.queues.length; partition < topic.leaders.length; partition++) {
        topic.queues.push(createPartitionQueue(topic.name, partition));
      }
      if (topic.queues.length > 0) {
        for (const entry of topic.unrouted.splice(0)) this.route(topic, entry);
        this.sendDue();
      }
    } catch (error) {
      for (const { call } of topic.unrouted) call.lastError = error as Error;
      this.options.logger.debug('could not read the partitions of a topic', { topic: topic.name, error });
      if (topic.unrouted.length > 0) setTimeout(() => this.loadLayout(topic), layoutRetryMs).unref();
    } finally {
      topic.isLoading = false;
    }
  }

  /**
   * Sends records when the linger time expires, or as soon as enough bytes have been added. Call this after each `add`.
   */
  sendSoon(): void {
    if (this.isClosing || this.bytesSinceLook >= this.options.settings.maxBatchBytes) this.sendDue();
    else if (this.filled.size > 0) this.timer ??= setTimeout(() => this.sendDue(), this.options.settings.lingerMs);
  }

  /**
   * Sends a request to each idle leader that has enough records or whose oldest record has waited for the linger time.
   */
  private sendDue(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.bytesSinceLook = 0;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [leader, queues] of this.waitingByLeader()) {
      if (this.busy.has(leader)) continue;
      const dueMs = this.dueInMs(queues);
      if (dueMs <= 0) void this.send(leader, queues);
      else nextMs = Math.min(nextMs, dueMs);
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.timer = setTimeout(() => this.sendDue(), Math.ceil(nextMs));
  }

  private waitingByLeader(): Map<number, PartitionQueue[]> {
    const byLeader = new Map<number, PartitionQueue[]>();
    for (const queue of this.filled) {
      const leader = this.topicOf(queue.topic).leaders[queue.partition];
      if (queue.inFlight > 0 || leader === undefined) continue;
      const queues = byLeader.get(leader);
      if (queues === undefined) byLeader.set(leader, [queue]);
      else queues.push(queue);
    }
    return byLeader;
  }

  private dueInMs(queues: readonly PartitionQueue[]): number {
    if (this.isClosing) return 0;
    let bytes = 0;
    let since = Number.POSITIVE_INFINITY;
    for (const { waitingBytes, waitingSince } of queues) {
      bytes += waitingBytes;
      since = Math.min(since, waitingSince);
    }
    return bytes >= this.options.settings.maxBatchBytes
      ? 0
      : since + this.options.settings.lingerMs - performance.now();
  }

  /** Sends one request to a leader, and waits if it fails. Then sends all records that are due. */
  private async send(leader: number, queues: readonly PartitionQueue[]): Promise<void> {
    const batches = this.take(queues);
    if (batches.length === 0) return;
    this.busy.add(leader);
    const refusals = await this.request(batches);
    for (const [index, batch] of batches.entries()) this.settle(batch, refusals[index] ?? null);
    // A record that is too large is not the leader's fault, so the following records are sent without a delay.
    const error = refusals.find((refusal) => refusal?.reason === 'not_now')?.error;
    if (error === undefined) {
      this.failures.delete(leader);
    } else {
      const failed = this.failures.get(leader) ?? 0;
      if (failed === 0) this.options.logger.warn('could not append records; retrying', { error });
      this.failures.set(leader, failed + 1);
      await sleep(Math.min(firstRetryDelayMs * 2 ** failed, maxRetryDelayMs));
    }
    this.busy.delete(leader);
    this.sendDue();
  }

  private take(queues: readonly PartitionQueue[]): TakenBatch[] {
    const taken: TakenBatch[] = [];
    let requestBytes = 0;
    for (const queue of queues) {
      if (requestBytes >= this.options.settings.maxRequestBytes) break;
      this.filled.delete(queue);
      this.options.budget.usedBytes -= removeSettled(queue);
      const entries = takeOldest(queue, Math.min(queue.maxBatchBytes, this.options.settings.maxBatchBytes));
      if (entries.length === 0) continue;
      this.filled.add(queue);
      requestBytes += sumBytes(entries);
      taken.push({ queue, entries });
    }
    return taken;
  }

  /** Sends one request. Returns for each batch null if it is in the log, or the reason why it was rejected. */
  private async request(taken: readonly TakenBatch[]): Promise<(BatchRefusal | null)[]> {
    this.options.metrics.sending(
      taken.reduce((sum, { entries }) => sum + entries.length, 0),
      taken.reduce((sum, { entries }) => sum + sumBytes(entries), 0),
    );
    try {
      return await this.options.transport.send(
        taken.map(({ queue: { topic, partition }, entries }) => ({
          topic,
          partition,
          records: entries.map(({ record }) => record),
        })),
      );
    } catch (error) {
      this.options.metrics.attemptFailed();
      return taken.map(() => ({ reason: 'not_now', error: error as Error }));
    }
  }

  private settle({ queue, entries }: TakenBatch, refusal: BatchRefusal | null): void {
    if (refusal === null) {
      removeInFlight(queue);
      this.options.budget.usedBytes -= sumBytes(entries);
      for (const { call } of entries) call.acknowledge();
    } else {
      if (refusal.reason === 'too_large') this.shrink(queue, entries, refusal.error);
      for (const { call } of entries) call.lastError = refusal.error;
      // The partition may have a new leader, so look it up when the next record is added.
      this.topicOf(queue.topic).loadedAt = Number.NEGATIVE_INFINITY;
      requeueInFlight(queue);
      this.options.budget.usedBytes -= removeSettled(queue);
    }
    if (queue.entries.length === 0) this.filled.delete(queue);
  }

  /**
   * Handles a server's size limit that is smaller than ours. Halves the batch size, or rejects a record that is too
   * large on its own.
   */
  private shrink(queue: PartitionQueue, entries: readonly QueuedRecord[], cause: Error): void {
    const [only] = entries;
    if (entries.length > 1) {
      queue.maxBatchBytes = Math.ceil(sumBytes(entries) / 2);
      return;
    }
    this.options.metrics.rejected('too_large');
    only?.call.fail(
      new AppError('too_large', 'A record exceeds the maximum size that the event log accepts.', { cause }),
    );
  }

  close(): void {
    this.isClosing = true;
    this.sendDue();
  }

  /** Drops queued records whose call has already settled, for example because it timed out. */
  forgetSettled(): void {
    const { budget } = this.options;
    for (const queue of this.filled) {
      budget.usedBytes -= removeSettled(queue);
      if (queue.entries.length === 0) this.filled.delete(queue);
    }
    for (const topic of this.topics.values()) {
      budget.usedBytes -= sumBytes(topic.unrouted.filter(({ call }) => call.isSettled));
      topic.unrouted = topic.unrouted.filter(({ call }) => !call.isSettled);
    }
  }
}
