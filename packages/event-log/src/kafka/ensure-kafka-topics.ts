import { AppError } from '@millrace/errors';
import { type Admin, Kafka } from 'kafkajs';
import { backoffMs, sleep } from '../consume/backoff.ts';
import type { KafkaLogOptions } from './kafka-options.ts';
import { clientConfig } from './kafka-session.ts';
import { createTrackedSockets } from './kafkajs-internals/tracked-sockets.ts';

const requestTimeoutMs = 10_000;
const attempts = 3;

type Topic = { topic: string; partitions: number };

/**
 * Creates missing topics. Another process doing the same at the same time is fine. Uses a connection of its own:
 * creating topics may take a broker longer than the limits of `append` allow.
 * @throws AppError `unavailable`
 */
export async function ensureKafkaTopics(options: KafkaLogOptions, topics: Topic[]): Promise<void> {
  const sockets = createTrackedSockets(options.socketFactory);
  const kafka = new Kafka({
    ...clientConfig(options, options.brokers),
    requestTimeout: requestTimeoutMs,
    retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1000, factor: 0.2, multiplier: 2 },
    socketFactory: sockets.socketFactory,
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    const missing: Topic[] = [];
    for (const topic of topics) if (!(await exists(admin, topic.topic))) missing.push(topic);
    // kafkajs reads the metadata of all topics first, and fails when any of them is just being made or deleted.
    for (let failures = 1; missing.length > 0; failures += 1) {
      try {
        await create(admin, options, missing);
        return;
      } catch (error) {
        if (failures === attempts) throw error;
        await sleep(backoffMs(failures));
      }
    }
  } catch (cause) {
    throw new AppError('unavailable', 'The topics of the event log could not be created.', {
      cause,
      details: { topics: topics.map(({ topic }) => topic) },
      retryAfterSeconds: 2,
    });
  } finally {
    await admin.disconnect().catch(() => {});
    sockets.retire('done');
  }
}

/** Asked first because an installation may give this process no right to create topics. */
async function exists(admin: Admin, topic: string): Promise<boolean> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics.some(({ partitions }) => partitions.length > 0);
  } catch {
    return false;
  }
}

/** Topics that exist by now are left as they are. */
async function create(admin: Admin, options: KafkaLogOptions, topics: Topic[]): Promise<void> {
  await admin.createTopics({
    timeout: requestTimeoutMs,
    waitForLeaders: true,
    topics: topics.map(({ topic, partitions }) => ({
      topic,
      numPartitions: partitions,
      replicationFactor: options.replicationFactor ?? -1,
      configEntries: Object.entries(options.topicConfig ?? {}).map(([name, value]) => ({ name, value })),
    })),
  });
}
