import { AppError, sleep } from '@millrace/runtime';
import { type Admin, Kafka, type RecordMetadata, type TopicMessages } from 'kafkajs';
import { createAppender } from '../append/append.ts';
import {
  type AppendTransport,
  type BatchRefusal,
  computeSendTimeout,
  maxMessageBytes,
  type PartitionBatch,
  toAppendSettings,
} from '../append/transport.ts';
import { backoffMs } from '../backoff.ts';
import { createConsumeMetrics } from '../consume/metrics.ts';
import type { EventLog } from '../log.ts';
import { createReachability } from '../reachability.ts';
import type { KafkaLogOptions } from './config.ts';
import { consumeFromKafka } from './consumer.ts';
import { createTrackedSockets } from './kafkajs-internals/connection.ts';
import { isLeaderMissing } from './kafkajs-internals/errors.ts';
import { patchKafkajs } from './kafkajs-internals/patch-kafkajs.ts';
import { wrapRecords } from './kafkajs-internals/produce.ts';
import { clientConfig, createKafkaSessions, type KafkaSessions } from './session.ts';
import { createTopicReader } from './topics.ts';

/** The time limit for closing the log in milliseconds, in addition to the 3 s for `append`. */
const closeTimeoutMs = 5000;

/**
 * Creates the event log on Kafka (with kafkajs). It connects in the background and reconnects after a lost connection,
 * so no broker has to be available when it is created. `isHealthy` returns false until the first response.
 */
export function createKafkaLog(options: KafkaLogOptions): EventLog {
  patchKafkajs();
  const { logger } = options;
  const settings = toAppendSettings(options);
  const sendTimeoutMs = computeSendTimeout(settings);
  const sessions = createKafkaSessions(options, Math.max(200, sendTimeoutMs - 200));
  const reachability = createReachability(logger, false, () => sessions.use(async () => {}, sendTimeoutMs, 'probing'));
  sessions.reportTo(reachability);
  const pipeline = createAppender({
    settings,
    transport: createKafkaTransport(sessions, sendTimeoutMs),
    logger,
    metrics: options.metrics,
  });
  const consumeMetrics = createConsumeMetrics(options.metrics);
  const topics = createTopicReader(sessions);

  sessions.use(async () => {}, sendTimeoutMs, 'connecting').catch(() => {});

  return {
    ensureTopics: (wanted) => ensureKafkaTopics(options, wanted),
    append: pipeline.append,
    consume: async (consume) => consumeFromKafka({ options, logger, metrics: consumeMetrics, topics }, consume),
    async endOffsets(topic) {
      try {
        const { log, bounds } = await topics.stateOf(topic);
        return bounds
          .map(({ partition, high }) => ({ partition, log, endOffset: high }))
          .sort((a, b) => a.partition - b.partition);
      } catch (cause) {
        const found = isLeaderMissing(cause)
          ? `The event log has no topic ${topic}, or one of its partitions has no leader.`
          : 'The event log does not respond.';
        throw new AppError('unavailable', found, { cause, retryAfterSeconds: 2 });
      }
    },
    isHealthy: reachability.isHealthy,
    async close() {
      await pipeline.close(settings.appendTimeoutMs);
      reachability.stop();
      await sessions.close(closeTimeoutMs);
    },
  };
}

/** Error codes for a partition in a produce response (https://kafka.apache.org/protocol#protocol_error_codes). */
const messageTooLarge = 10;
const recordListTooLarge = 18;

/**
 * Writes to Kafka with acks=all, so a batch is acknowledged once every in-sync replica has it.
 * @param sendTimeoutMs the time after which an attempt has failed and its connections are closed
 */
function createKafkaTransport(sessions: KafkaSessions, sendTimeoutMs: number): AppendTransport {
  return {
    async leadersOf(topic) {
      const metadata = await sessions.use(
        ({ admin }) => admin.fetchTopicMetadata({ topics: [topic] }),
        sendTimeoutMs,
        'reading the partitions of a topic',
      );
      const partitions = metadata.topics.find(({ name }) => name === topic)?.partitions ?? [];
      if (partitions.length === 0) throw new Error(`the topic ${topic} does not exist`);
      const leaders: number[] = new Array(partitions.length).fill(0);
      for (const { partitionId, leader } of partitions) leaders[partitionId] = leader;
      return leaders;
    },

    async send(batches) {
      const metadata = await sessions.use(
        ({ producer }) => producer.sendBatch({ acks: -1, timeout: sendTimeoutMs, topicMessages: toMessages(batches) }),
        sendTimeoutMs,
        'sending records',
      );
      const refusals = batches.map((batch) => refusalOf(batch, metadata));
      // The partition may have a new leader, which a new session looks up.
      if (refusals.some((refusal) => refusal?.reason === 'not_now')) sessions.renew('a partition rejected records');
      return refusals;
    },
  };
}

function toMessages(batches: PartitionBatch[]): TopicMessages[] {
  const topics = new Map<string, TopicMessages>();
  for (const { topic, partition, records } of batches) {
    const entry = topics.get(topic) ?? { topic, messages: [] };
    entry.messages.push(wrapRecords(partition, records));
    topics.set(topic, entry);
  }
  return [...topics.values()];
}

function refusalOf({ topic, partition }: PartitionBatch, metadata: RecordMetadata[]): BatchRefusal | null {
  const found = metadata.find((one) => one.topicName === topic && one.partition === partition);
  if (found?.errorCode === 0) return null;
  const code = found?.errorCode ?? 'missing';
  return {
    reason: code === messageTooLarge || code === recordListTooLarge ? 'too_large' : 'not_now',
    error: new Error(`Kafka rejected records for ${topic}/${partition} with error code ${code}`),
  };
}

const requestTimeoutMs = 10_000;
const attempts = 3;

type Topic = { topic: string; partitions: number };

/**
 * Creates missing topics, which several processes may do at the same time. Uses a separate connection, because creating
 * topics can take longer than the time limit of `append`.
 * @throws AppError `unavailable`
 */
async function ensureKafkaTopics(options: KafkaLogOptions, topics: Topic[]): Promise<void> {
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
    let settings: TopicSettings = { 'max.message.bytes': String(maxMessageBytes), ...options.topicConfig };
    for (const topic of topics) if (!(await exists(admin, topic.topic))) missing.push(topic);
    // kafkajs first loads the metadata of all topics, which fails while any topic is being created or deleted.
    for (let failures = 1; missing.length > 0; failures += 1) {
      try {
        await create(admin, missing, { settings, replicationFactor: options.replicationFactor ?? -1 });
        return;
      } catch (error) {
        if (failures === attempts) throw error;
        if (refusesSettings(error)) {
          options.logger.warn(
            'brokers rejected the settings for new topics; creating the topics with default settings',
            { error },
          );
          settings = {};
        }
        await sleep(backoffMs(failures));
      }
    }
  } catch (cause) {
    throw new AppError('unavailable', 'Could not create the event log topics.', {
      cause,
      details: { topics: topics.map(({ topic }) => topic) },
      retryAfterSeconds: 2,
    });
  } finally {
    await admin.disconnect().catch(() => {});
    sockets.retire('done');
  }
}

/** Returns whether a topic exists. If all topics exist, the process needs no permission to create topics. */
async function exists(admin: Admin, topic: string): Promise<boolean> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics.some(({ partitions }) => partitions.length > 0);
  } catch {
    return false;
  }
}

type TopicSettings = Record<string, string>;

/**
 * Returns whether the broker rejected the topic's settings. Some hosted brokers allow only smaller records, so they
 * will reject large AI events.
 */
function refusesSettings(error: unknown): boolean {
  const { errors = [] } = error as { errors?: { type?: unknown }[] };
  return errors.some(({ type }) => type === 'INVALID_CONFIG' || type === 'POLICY_VIOLATION');
}

async function create(
  admin: Admin,
  topics: Topic[],
  { settings, replicationFactor }: { settings: TopicSettings; replicationFactor: number },
): Promise<void> {
  await admin.createTopics({
    timeout: requestTimeoutMs,
    waitForLeaders: true,
    topics: topics.map(({ topic, partitions }) => ({
      topic,
      numPartitions: partitions,
      replicationFactor,
      configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
    })),
  });
}
