import { AppError } from '@millrace/errors';
import { createAppendPipeline } from '../append/append-pipeline.ts';
import { sendTimeoutOf, toAppendSettings } from '../append/append-settings.ts';
import { createConsumeMetrics } from '../consume/consume-metrics.ts';
import type { EventLog } from '../port/event-log.ts';
import { createReachability } from '../port/reachability.ts';
import { ensureKafkaTopics } from './ensure-kafka-topics.ts';
import { consumeFromKafka } from './kafka-consumer.ts';
import type { KafkaLogOptions } from './kafka-options.ts';
import { createKafkaSessions } from './kafka-session.ts';
import { createKafkaTransport } from './kafka-transport.ts';
import { correctKafkajs } from './kafkajs-internals/correct-kafkajs.ts';
import { isWithoutLeader } from './kafkajs-internals/is-without-leader.ts';
import { createTopicReader } from './topic-state.ts';

/** Closing is not bound to the 3 s of `append`. */
const closeTimeoutMs = 5000;

/**
 * The log on Kafka (kafkajs). Connects by itself, in the background, and again whenever the connection is lost; nothing
 * here needs a broker at creation. `isHealthy` is false until the first answer.
 */
export function createKafkaLog(options: KafkaLogOptions): EventLog {
  correctKafkajs();
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
        const found = isWithoutLeader(cause)
          ? `The event log has no topic ${topic}, or a part of it has no leader.`
          : 'The event log does not answer.';
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
