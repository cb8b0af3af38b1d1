import { AppError } from '@millrace/errors';
import { createAppendPipeline } from '../append/append-pipeline.ts';
import { sendTimeoutOf, toAppendSettings } from '../append/append-settings.ts';
import { sleep } from '../consume/backoff.ts';
import { createConsumeMetrics } from '../consume/consume-metrics.ts';
import type { EventLog } from '../event-log.ts';
import { createReachability } from '../reachability.ts';
import { ensureKafkaTopics } from './ensure-kafka-topics.ts';
import { consumeFromKafka } from './kafka-consumer.ts';
import type { KafkaLogOptions } from './kafka-options.ts';
import { createKafkaSessions } from './kafka-session.ts';
import { createKafkaTransport } from './kafka-transport.ts';
import { useOwnProduceEncoding } from './produce-protocol.ts';
import { stopIdleRequestQueueTimer } from './request-queue-timer.ts';
import type { PartitionBounds } from './start-positions.ts';

/** Reading bounds and closing are not bound to the 3 s of `append`. */
const lookUpTimeoutMs = 5000;
/** How long the brokers may take to agree on a topic that was just made; as long is waited for one that is not there. */
const newTopicTimeoutMs = 2000;

/**
 * The log on Kafka (kafkajs). Connects by itself, in the background, and again whenever the connection is lost; nothing
 * here needs a broker at creation. `isHealthy` is false until the first answer.
 */
export function createKafkaLog(options: KafkaLogOptions): EventLog {
  useOwnProduceEncoding();
  stopIdleRequestQueueTimer();
  const { logger } = options;
  const settings = toAppendSettings(options);
  const sendTimeoutMs = sendTimeoutOf(settings);
  const sessions = createKafkaSessions(options, Math.max(200, sendTimeoutMs - 200));
  const reachability = createReachability(logger, false, () => sessions.use(async () => {}, sendTimeoutMs, 'probing'));
  sessions.reportTo(reachability);
  const pipeline = createAppendPipeline({
    settings,
    transport: createKafkaTransport(sessions, sendTimeoutMs),
    logger,
    metrics: options.metrics,
  });
  const consumeMetrics = createConsumeMetrics(options.metrics);

  /** A topic that was just made has no leaders yet, or the broker that was asked has not heard of it: asked again. */
  async function boundsOf(topic: string): Promise<PartitionBounds[]> {
    const giveUpAt = performance.now() + newTopicTimeoutMs;
    for (let failures = 1; ; failures += 1) {
      try {
        return await readBounds(topic);
      } catch (error) {
        if (!isWithoutLeader(error) || performance.now() > giveUpAt) throw error;
        await sleep(Math.min(25 * 2 ** failures, 250));
      }
    }
  }

  async function readBounds(topic: string): Promise<PartitionBounds[]> {
    const offsets = await sessions.use(
      ({ admin }) => admin.fetchTopicOffsets(topic),
      lookUpTimeoutMs,
      'reading offsets',
    );
    return offsets.map(({ partition, low, high }) => ({ partition, low: BigInt(low), high: BigInt(high) }));
  }

  sessions.use(async () => {}, sendTimeoutMs, 'connecting').catch(() => {});

  return {
    ensureTopics: (topics) => ensureKafkaTopics(options, topics),
    append: pipeline.append,
    consume: async (consume) => consumeFromKafka({ options, logger, metrics: consumeMetrics, boundsOf }, consume),
    async endOffsets(topic) {
      try {
        const bounds = await boundsOf(topic);
        return bounds
          .map(({ partition, high }) => ({ partition, endOffset: high }))
          .sort((a, b) => a.partition - b.partition);
      } catch (cause) {
        throw new AppError('unavailable', 'The event log does not answer.', { cause, retryAfterSeconds: 2 });
      }
    },
    isHealthy: reachability.isHealthy,
    async close() {
      await pipeline.close(settings.appendTimeoutMs);
      reachability.stop();
      await sessions.close(lookUpTimeoutMs);
    },
  };
}

/** What brokers answer about partitions they do not know (yet), or that have no leader (yet). */
const withoutLeader = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION']);

function isWithoutLeader(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (withoutLeader.has(String((cause as { type?: unknown }).type))) return true;
    // Says that the layout it has is out of date; it reads it anew the next time.
    if (cause.name === 'KafkaJSMetadataNotLoaded') return true;
  }
  return false;
}
