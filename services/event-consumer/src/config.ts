import { type Lane, lanes } from '@millrace/contracts';
import { databaseConfigFields, type WithDatabaseAddress } from '@millrace/db/sql';
import { fallbackConfigFields, kafkaConfigFields } from '@millrace/event-log';
import { integerSetting, metricsConfigFields } from '@millrace/runtime';
import { tracingConfigFields } from '@millrace/runtime/tracing';
import { type Static, Type } from 'typebox';

const mebibyte = 1024 * 1024;
const laneNames = lanes.join('|');

/** The consumer's settings; each is read from the environment variable of its name (`healthPort` ← `HEALTH_PORT`). */
export const consumerConfigSchema = Type.Object({
  healthPort: integerSetting(8001, 'a TCP port; 0 picks a free one', { max: 65_535 }),
  healthHost: Type.String({ default: '0.0.0.0', description: 'the address to listen on' }),
  ...databaseConfigFields,
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
    default: 'kafka',
    description: 'kafka or postgres',
  }),
  ...kafkaConfigFields,
  ...fallbackConfigFields,
  kafkaSessionTimeoutMs: integerSetting(
    6000,
    'milliseconds after which a silent member loses its partitions to the others',
    {
      min: 1000,
    },
  ),
  ...tracingConfigFields,
  topicPrefix: Type.String({ default: '', description: 'put before every topic and group name' }),
  topicPartitions: integerSetting(12, 'partitions of a topic that is created', { min: 1 }),
  consumerLanes: Type.String({
    default: lanes.join(','),
    pattern: `^(${laneNames})(,(${laneNames}))*$`,
    description: `which of ${lanes.join(', ')} this process works on, separated by commas`,
  }),
  publishProcessed: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'off',
    description:
      'on or off: publish stored events to events.processed, for live events, warehouses and `millrace tail`',
  }),
  // Now and then a batch waits for the commit of another one. Two more keep this process and PostgreSQL busy meanwhile.
  livePartitionConcurrency: integerSetting(3, 'partitions of the live lane worked on at once', { min: 1, max: 64 }),
  historicalPartitionConcurrency: integerSetting(1, 'partitions of the historical lane worked on at once', {
    min: 1,
    max: 64,
  }),
  overflowPartitionConcurrency: integerSetting(1, 'partitions of the overflow lane worked on at once', {
    min: 1,
    max: 64,
  }),
  eventRetentionDays: integerSetting(
    0,
    'maximum age of events in days, the same as for the delivery worker; older ones are dropped; 0 = no limit',
    { min: 0, max: 36_500 },
  ),
  maxBatchRecords: integerSetting(500, 'records in one transaction at most', { min: 1, max: 10_000 }),
  maxBatchBytes: integerSetting(4 * mebibyte, 'record bytes in one transaction, about', { min: 1 }),
  ...metricsConfigFields,
  logLevel: Type.String({ default: 'info', description: 'error, warn, info or debug' }),
  drainTimeoutMs: integerSetting(25_000, 'milliseconds stopping may take'),
});

export type ConsumerConfig = WithDatabaseAddress<Static<typeof consumerConfigSchema>>;

/** The lanes this process works on, each with the number of partitions it works on at once. */
export function configuredLanes(config: ConsumerConfig): { lane: Lane; partitionConcurrency: number }[] {
  const concurrency: Record<Lane, number> = {
    live: config.livePartitionConcurrency,
    historical: config.historicalPartitionConcurrency,
    overflow: config.overflowPartitionConcurrency,
  };
  const wanted = config.consumerLanes.split(',');
  return lanes
    .filter((lane) => wanted.includes(lane))
    .map((lane) => ({ lane, partitionConcurrency: concurrency[lane] }));
}
