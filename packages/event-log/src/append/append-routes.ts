import type { Logger } from '@millrace/runtime';
import type { AppendMetrics } from './append-metrics.ts';
import { createSender, type Sender } from './append-sender.ts';
import type { AppendSettings } from './append-settings.ts';
import type { AppendTransport } from './append-transport.ts';
import type { QueuedRecord } from './partition-queue.ts';
import { createTopicQueues, type TopicQueues } from './topic-queues.ts';

export interface AppendRoutesOptions {
  settings: AppendSettings;
  transport: AppendTransport;
  logger: Logger;
  metrics: AppendMetrics;
  /** Told when records have left their queue, for the byte budget. */
  released(records: QueuedRecord[]): void;
}

/** From a record to the queue of its partition, and from there to the sender of the partition's leader. */
export function createAppendRoutes({ settings, transport, logger, metrics, released }: AppendRoutesOptions) {
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
