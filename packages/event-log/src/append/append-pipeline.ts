import { AppError } from '@millrace/errors';
import type { Logger, Metrics } from '@millrace/runtime';
import type { AppendRecord } from '../port/event-log.ts';
import { type AppendCall, createAppendCall, createExpiry, fail } from './append-call.ts';
import { createAppendMetrics } from './append-metrics.ts';
import { createSender, type Sender } from './append-sender.ts';
import type { AppendSettings } from './append-settings.ts';
import type { AppendTransport, OutgoingRecord } from './append-transport.ts';
import type { QueuedRecord } from './partition-queue.ts';
import { recordSize } from './record-size.ts';
import { createTopicQueues, type TopicQueues } from './topic-queues.ts';

export interface AppendPipelineOptions {
  settings: AppendSettings;
  transport: AppendTransport;
  logger: Logger;
  metrics: Metrics | undefined;
}

/**
 * The way of a record from `append` to the log, the same for both adapters. The records of calls are put into one queue
 * per partition; queues with the same leader share a request; a call is settled when all its records have been
 * acknowledged.
 */
export function createAppendPipeline(options: AppendPipelineOptions) {
  const { settings, transport, logger } = options;
  const metrics = createAppendMetrics(options.metrics, () => inFlightBytes);
  const topics = new Map<string, TopicQueues>();
  const senders = new Map<number, Sender>();
  const idleWaiters: (() => void)[] = [];
  let inFlightBytes = 0;
  let openCalls = 0;
  let isClosed = false;

  const expiry = createExpiry(settings.appendTimeoutMs, (call) => {
    metrics.rejected(isClosed ? 'closed' : 'expired');
    fail(
      call,
      new AppError('unavailable', 'The event log did not answer in time.', {
        retryAfterSeconds: 2,
        cause: call.lastError ?? undefined,
      }),
    );
    for (const topic of topics.values()) release(topic.forgetSettled());
    for (const sender of senders.values()) sender.forgetSettled();
  });

  function append(records: AppendRecord[]): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    const refusal = isClosed ? closedError() : null;
    if (refusal !== null) return reject('closed', refusal);
    const outgoing = records.map(toOutgoing);
    const sizes = outgoing.map(recordSize);
    let bytes = 0;
    for (const size of sizes) {
      if (size > settings.maxRecordBytes) return reject('too_large', tooLargeError(settings));
      bytes += size;
    }
    // A call larger than the whole budget is taken when it is alone: it could never be sent otherwise.
    if (inFlightBytes > 0 && inFlightBytes + bytes > settings.maxInFlightBytes) return reject('budget', budgetError());
    return take(outgoing, sizes, bytes);
  }

  function take(records: OutgoingRecord[], sizes: number[], bytes: number): Promise<void> {
    inFlightBytes += bytes;
    const { call, settled } = openCall(records.length);
    enqueueAll(records, sizes, call);
    return settled;
  }

  /** Not part of `take`: a call may be kept until its time limit, and must not keep its records in memory. */
  function openCall(records: number): { call: AppendCall; settled: Promise<void> } {
    let settle: (error: Error | null) => void = () => {};
    const settled = new Promise<void>((resolve, rejectCall) => {
      settle = (error) => (error === null ? resolve() : rejectCall(error));
    });
    const call = createAppendCall(records, (error) => {
      openCalls -= 1;
      if (openCalls === 0) for (const wake of idleWaiters.splice(0)) wake();
      if (error === null) metrics.acknowledged((performance.now() - call.startedAt) / 1000);
      settle(error);
    });
    openCalls += 1;
    expiry.watch(call);
    return { call, settled };
  }

  function enqueueAll(records: OutgoingRecord[], sizes: number[], call: AppendCall): void {
    records.forEach((record, index) => {
      topicOf(record.topic).add({ record, bytes: sizes[index] ?? 0, call });
    });
    for (const sender of senders.values()) sender.sendWhenDue();
  }

  function topicOf(topic: string): TopicQueues {
    const known = topics.get(topic);
    if (known !== undefined) return known;
    const created = createTopicQueues({
      topic,
      logger,
      leadersOf: transport.leadersOf,
      enqueue: (queue, entry) => senderTo(queue.leader).enqueue(queue, entry),
      moved(queue, fromLeader) {
        senderTo(fromLeader).dismiss(queue);
        senderTo(queue.leader).adopt(queue);
      },
      routed(left) {
        release(left);
        for (const sender of senders.values()) sender.sendWhenDue();
      },
    });
    topics.set(topic, created);
    return created;
  }

  function senderTo(id: number): Sender {
    const known = senders.get(id);
    if (known !== undefined) return known;
    const { lingerMs, maxBatchBytes, maxRequestBytes } = settings;
    const created = createSender({
      transport,
      logger,
      metrics,
      lingerMs,
      maxBatchBytes,
      maxRequestBytes,
      released: release,
    });
    senders.set(id, created);
    return created;
  }

  function release(entries: QueuedRecord[]): void {
    for (const { bytes } of entries) inFlightBytes -= bytes;
  }

  function reject(reason: 'too_large' | 'budget' | 'closed', error: AppError): Promise<never> {
    metrics.rejected(reason);
    return Promise.reject(error);
  }

  /** Sends what is still waiting and refuses new records. What is not acknowledged within `timeoutMs` is rejected. */
  async function close(timeoutMs: number): Promise<void> {
    isClosed = true;
    for (const sender of senders.values()) sender.sendNow();
    if (openCalls > 0) {
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([
        new Promise<void>((resolve) => idleWaiters.push(resolve)),
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, timeoutMs);
        }),
      ]);
      clearTimeout(timer);
    }
    expiry.expireAll();
  }

  /** Has the layout of every topic looked up again, e.g. because a leader has changed. */
  function refreshLayouts(): void {
    for (const topic of topics.values()) topic.refresh();
  }

  return { append, close, refreshLayouts };
}

function toOutgoing(record: AppendRecord): OutgoingRecord {
  const { topic, key, value, headers } = record;
  const keyBytes = key === null ? null : Buffer.from(key, 'utf8');
  // Field by field: this runs once per record, and spreading costs ten times as much.
  return headers === undefined ? { topic, key, value, keyBytes } : { topic, key, value, headers, keyBytes };
}

function closedError(): AppError {
  return new AppError('unavailable', 'The event log is closing.', { retryAfterSeconds: 1 });
}

function budgetError(): AppError {
  return new AppError('unavailable', 'Too many records are waiting for the event log.', { retryAfterSeconds: 1 });
}

function tooLargeError({ maxRecordBytes }: AppendSettings): AppError {
  return new AppError('too_large', 'A record is larger than the event log takes.', { details: { maxRecordBytes } });
}
