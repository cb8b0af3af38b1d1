import { kafkaConfigFields } from '@millrace/event-log';
import { integerSetting } from '@millrace/runtime';
import { type Static, Type } from 'typebox';

const mebibyte = 1024 * 1024;

/** The gateway's settings; each is read from the environment variable of its name (`ingestPort` ← `INGEST_PORT`). */
export const gatewayConfigSchema = Type.Object({
  ingestPort: integerSetting(8000, 'a TCP port; 0 takes a free one', { max: 65_535 }),
  ingestHost: Type.String({ default: '0.0.0.0', description: 'the address to listen on' }),
  databaseUrl: Type.String({ description: 'postgresql://…, where project keys are looked up' }),
  redisUrl: Type.Optional(Type.String({ description: 'redis://…; without it keys are cached in the process only' })),
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
    default: 'kafka',
    description: 'kafka or postgres',
  }),
  ...kafkaConfigFields,
  topicPrefix: Type.String({ default: '', description: 'put before every topic name' }),
  topicPartitions: integerSetting(12, 'partitions of a topic that has to be created', { min: 1 }),
  maxBodyBytes: integerSetting(20 * mebibyte, 'request body as it comes over the wire', { min: 1 }),
  maxDecompressedBytes: integerSetting(100 * mebibyte, 'request body after decompression', { min: 1 }),
  maxRecordBytes: integerSetting(900_000, 'one event as it is written to the log', { min: 1000 }),
  maxInFlightBytes: integerSetting(256 * mebibyte, 'bodies held in memory at once, over all requests', { min: 1 }),
  bodyTimeoutMs: integerSetting(30_000, 'how long an upload may pause', { min: 1 }),
  keepAliveTimeoutMs: integerSetting(75_000, 'how long an idle connection is kept; longer than the proxy keeps it'),
  trustProxy: Type.Boolean({
    default: true,
    description: 'true when X-Forwarded-For and its relatives may be believed',
  }),
  logLevel: Type.String({ default: 'info', description: 'error, warn, info or debug' }),
  stopDelayMs: integerSetting(0, 'between being unready and refusing connections, for balancers to notice'),
  drainTimeoutMs: integerSetting(25_000, 'how long stopping may take'),
});

export type GatewayConfig = Readonly<Static<typeof gatewayConfigSchema>>;

/** What one request may cost; the part of the config that the capture stations need. */
export type CaptureLimits = Pick<
  GatewayConfig,
  'maxBodyBytes' | 'maxDecompressedBytes' | 'maxRecordBytes' | 'bodyTimeoutMs' | 'trustProxy'
>;
