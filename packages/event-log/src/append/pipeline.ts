import { AppError, type Logger, type Metrics } from '@millrace/runtime';
import type { AppendRecord } from '../log.ts';
import { type AppendCall, createExpiry, createOpenCalls, fail } from './calls.ts';
import { type AppendMetrics, createAppendMetrics } from './metrics.ts';
import { createTopicQueues, type QueuedRecord, type TopicQueues } from './queues.ts';
import { createSender, type Sender } from './sender.ts';
import { type AppendSettings, type AppendTransport, type OutgoingRecord, recordSize } from './transport.ts';

interface AppendPipelineOptions {
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
  let inFlightBytes = 0;
  let isClosed = false;
  const metrics = createAppendMetrics(options.metrics, () => inFlightBytes);
  const calls = createOpenCalls(metrics);
  const routes = createAppendRoutes({
    ...{ settings, transport, logger, metrics },
    released(entries) {
      for (const { bytes } of entries) inFlightBytes -= bytes;
    },
  });
  const expiry = createExpiry(settings.appendTimeoutMs, (call) => {
    metrics.rejected(isClosed ? 'closed' : 'expired');
    fail(call, expiredError(call));
    routes.forgetSettled();
  });

  function append(records: AppendRecord[]): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    if (isClosed) return reject('closed', closedError());
    const outgoing = records.map(toOutgoing);
    const sizes = outgoing.map(recordSize);
    let bytes = 0;
    for (const size of sizes) {
      if (size > settings.maxRecordBytes) return reject('too_large', tooLargeError(settings));
      bytes += size;
    }
    // A call larger than the whole budget is taken when it is alone: it could never be sent otherwise.
    if (inFlightBytes > 0 && inFlightBytes + bytes > settings.maxInFlightBytes) return reject('budget', budgetError());
    inFlightBytes += bytes;
    return take(outgoing, sizes);
  }

  function take(records: OutgoingRecord[], sizes: number[]): Promise<void> {
    const { call, settled } = calls.open(records.length);
    expiry.watch(call);
    records.forEach((record, index) => {
      routes.add({ record, bytes: sizes[index] ?? 0, call });
    });
    routes.sendWhenDue();
    return settled;
  }

  function reject(reason: 'too_large' | 'budget' | 'closed', error: AppError): Promise<never> {
    metrics.rejected(reason);
    return Promise.reject(error);
  }

  /** Sends what is still waiting and refuses new records. What is not acknowledged within `timeoutMs` is rejected. */
  async function close(timeoutMs: number): Promise<void> {
    isClosed = true;
    routes.sendNow();
    await calls.idle(timeoutMs);
    expiry.expireAll();
  }

  return { append, close, refreshLayouts: routes.refreshLayouts };
}

function expiredError({ lastError }: AppendCall): AppError {
  return new AppError('unavailable', 'The event log did not answer in time.', {
    retryAfterSeconds: 2,
    cause: lastError ?? undefined,
  });
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

interface AppendRoutesOptions {
  settings: AppendSettings;
  transport: AppendTransport;
  logger: Logger;
  metrics: AppendMetrics;
  /** Told when records have left their queue, for the byte budget. */
  released(records: QueuedRecord[]): void;
}

/** From a record to the queue of its partition, and from there to the sender of the partition's leader. */
function createAppendRoutes({ settings, transport, logger, metrics, released }: AppendRoutesOptions) {
  const topics = new Map<string, TopicQueues>();
  const senders = new Map<number, Sender>();

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
        released(left);
        sendWhenDue();
      },
    });
    topics.set(topic, created);
    return created;
  }

  function senderTo(id: number): Sender {
    const known = senders.get(id);
    if (known !== undefined) return known;
    const { lingerMs, maxBatchBytes, maxRequestBytes } = settings;
    const created = createSender({ transport, logger, metrics, lingerMs, maxBatchBytes, maxRequestBytes, released });
    senders.set(id, created);
    return created;
  }

  function sendWhenDue(): void {
    for (const sender of senders.values()) sender.sendWhenDue();
  }

  return {
    add: (entry: QueuedRecord) => topicOf(entry.record.topic).add(entry),
    sendWhenDue,
    /** No more lingering: used when closing. */
    sendNow(): void {
      for (const sender of senders.values()) sender.sendNow();
    },
    /** Drops waiting records of calls that were settled in another way. */
    forgetSettled(): void {
      for (const topic of topics.values()) released(topic.forgetSettled());
      for (const sender of senders.values()) sender.forgetSettled();
    },
    /** Has the layout of every topic looked up again, e.g. because a leader has changed. */
    refreshLayouts(): void {
      for (const topic of topics.values()) topic.refresh();
    },
  };
}
