import { type EventTopic, eventTopics } from '@millrace/contracts';
import { databaseConfigFields, type WithDatabaseAddress } from '@millrace/db/sql';
import { fallbackConfigFields, kafkaConfigFields } from '@millrace/event-log';
import { integerSetting, logLevelConfigFields, metricsConfigFields } from '@millrace/runtime';
import { tracingConfigFields } from '@millrace/runtime/tracing';
import { type Static, Type } from 'typebox';

const mebibyte = 1024 * 1024;
const topicPattern = eventTopics.join('|');

/**
 * The consumer's settings. Each setting is read from the environment variable of the same name, for example
 * `healthPort` from `HEALTH_PORT`.
 */
export const consumerConfigSchema = Type.Object({
  healthPort: integerSetting(8001, 'TCP port for health endpoints and metrics; 0 picks a free port', {
    max: 65_535,
  }),
  healthHost: Type.String({ default: '0.0.0.0', description: 'address to listen on' }),
  ...databaseConfigFields,
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
    default: 'kafka',
    description: 'event log to read from. Must be the same as for the gateway',
  }),
  ...kafkaConfigFields,
  ...fallbackConfigFields,
  kafkaSessionTimeoutMs: integerSetting(
    6000,
    "time without a heartbeat after which the other consumers take over this consumer's partitions, in milliseconds",
    {
      min: 1000,
    },
  ),
  ...tracingConfigFields,
  topicPrefix: Type.String({
    default: '',
    description: 'prefix of every topic and consumer group name. Must be the same for all services',
  }),
  topicPartitions: integerSetting(12, 'number of partitions of each topic that Millrace creates', { min: 1 }),
  consumerTopics: Type.String({
    default: eventTopics.join(','),
    pattern: `^(${topicPattern})(,(${topicPattern}))*$`,
    description: `comma-separated list of the event topics that this process reads: ${eventTopics.join(', ')}`,
  }),
  publishProcessed: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'off',
    description:
      'whether to publish stored events to the topic events.processed, for live events, data warehouses and `millrace tail`',
  }),
  // Three by default, because one batch often waits for another's commit while two more use this process and
  // PostgreSQL.
  livePartitionConcurrency: integerSetting(
    3,
    'number of partitions of the topic `live` that are processed at the same time',
    { min: 1, max: 64 },
  ),
  historicalPartitionConcurrency: integerSetting(
    1,
    'number of partitions of the topic `historical` that are processed at the same time',
    {
      min: 1,
      max: 64,
    },
  ),
  overflowPartitionConcurrency: integerSetting(
    1,
    'number of partitions of the topic `overflow` that are processed at the same time',
    {
      min: 1,
      max: 64,
    },
  ),
  eventRetentionDays: integerSetting(
    0,
    'maximum age of events in days. Older events are dropped. 0 means no limit. Must be the same as for the delivery worker',
    { min: 0, max: 36_500 },
  ),
  maxBatchRecords: integerSetting(500, 'maximum number of records in one transaction', { min: 1, max: 10_000 }),
  maxBatchBytes: integerSetting(4 * mebibyte, 'approximate maximum size of the records in one transaction, in bytes', {
    min: 1,
  }),
  ...metricsConfigFields,
  ...logLevelConfigFields,
  drainTimeoutMs: integerSetting(
    25_000,
    'maximum time to finish work in progress before the process stops, in milliseconds',
  ),
});

export type ConsumerConfig = WithDatabaseAddress<Static<typeof consumerConfigSchema>>;

/** Returns the topics that this process reads, each with the number of partitions processed concurrently. */
export function configuredTopics(config: ConsumerConfig): { topic: EventTopic; partitionConcurrency: number }[] {
  const concurrency: Record<EventTopic, number> = {
    live: config.livePartitionConcurrency,
    historical: config.historicalPartitionConcurrency,
    overflow: config.overflowPartitionConcurrency,
  };
  const wanted = config.consumerTopics.split(',');
  return eventTopics
    .filter((topic) => wanted.includes(topic))
    .map((topic) => ({ topic, partitionConcurrency: concurrency[topic] }));
}
