import { databaseConfigFields, type WithDatabaseAddress } from '@millrace/db/sql';
import { fallbackConfigFields, kafkaConfigFields } from '@millrace/event-log';
import { integerSetting, logLevelConfigFields, metricsConfigFields, secretsKeyConfigFields } from '@millrace/runtime';
import { redisConfigFields } from '@millrace/runtime/cache';
import { traceSamplingConfigFields, tracingConfigFields } from '@millrace/runtime/tracing';
import { type Static, Type } from 'typebox';

const mebibyte = 1024 * 1024;

/** The gateway's settings. The environment variable `INGEST_PORT` sets `ingestPort`. */
export const gatewayConfigSchema = Type.Object({
  ingestPort: integerSetting(8000, 'TCP port to listen on; 0 picks a free port', { max: 65_535 }),
  ingestHost: Type.String({ default: '0.0.0.0', description: 'address to listen on' }),
  gatewayRoles: Type.String({
    default: 'ingest,flags',
    pattern: '^\\s*(ingest|flags)(\\s*,\\s*(ingest|flags))?\\s*$',
    description:
      'comma-separated list of the requests that this gateway serves: ingest (events), flags (flags and their definitions)',
  }),
  ...databaseConfigFields,
  ...redisConfigFields,
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
    default: 'kafka',
    description: 'event log to write to. Must be the same as for the consumer',
  }),
  ...kafkaConfigFields,
  ...fallbackConfigFields,
  ...tracingConfigFields,
  ...traceSamplingConfigFields,
  topicPrefix: Type.String({
    default: '',
    description: 'prefix of every topic name. Must be the same for all services',
  }),
  topicPartitions: integerSetting(12, 'number of partitions of each topic that Millrace creates', { min: 1 }),
  maxBodyBytes: integerSetting(20 * mebibyte, 'maximum size of a request body before decompression, in bytes', {
    min: 1,
  }),
  maxDecompressedBytes: integerSetting(100 * mebibyte, 'maximum size of a request body after decompression, in bytes', {
    min: 1,
  }),
  maxRecordBytes: integerSetting(
    1_010_000,
    'maximum size of an event record in the log, in bytes. The default leaves room for an event of 1,000,000 bytes and the fields that Millrace adds',
    { min: 1000 },
  ),
  maxAiRecordBytes: integerSetting(
    8_400_000,
    'maximum size of a log record for an event sent to /i/v0/ai or /i/v0/ai/batch, in bytes. The default leaves room for an event of 8 MiB and the fields that Millrace adds',
    { min: 1000 },
  ),
  maxInFlightBytes: integerSetting(
    256 * mebibyte,
    'maximum total size of the request bodies held in memory at the same time, in bytes',
    {
      min: 1,
    },
  ),
  largeBodyThreads: integerSetting(
    1,
    'number of threads that decode and validate request bodies over 256 KiB. An additional thread handles bodies without a known API key',
    { min: 1, max: 64 },
  ),
  largeBodyHeapMb: integerSetting(
    1024,
    'maximum JavaScript heap size of each thread for large bodies, in MiB. A body that must be parsed completely, because it is unusual or for Capture v1, can have a tenth of this size',
    { min: 128 },
  ),
  bodyTimeoutMs: integerSetting(30_000, 'maximum pause during an upload, in milliseconds', { min: 1 }),
  keepAliveTimeoutMs: integerSetting(
    75_000,
    "how long an idle connection stays open, in milliseconds. Must be longer than the proxy's idle timeout",
  ),
  trustProxy: Type.Boolean({
    default: true,
    description: 'read the client address from the X-Forwarded-For, X-Real-IP and Forwarded headers',
  }),
  limitFlushMs: integerSetting(
    100,
    'how long a gateway collects counts before it shares them with the other gateways, in milliseconds',
    {
      min: 1,
    },
  ),
  trafficWindowMs: integerSetting(
    10_000,
    'length of the window in which rates, spikes and hot keys are measured, in milliseconds',
    { min: 100 },
  ),
  spikeMinEventsPerSecond: integerSetting(
    100,
    "number of events per second below which a project's traffic is never treated as a spike",
    { min: 1 },
  ),
  spikeFactor: integerSetting(
    5,
    "multiple of a project's usual event rate above which its traffic is treated as a spike",
    { min: 1 },
  ),
  spikeWarmUpMs: integerSetting(
    60_000,
    "how long a gateway observes each project's traffic after startup before it reports spikes, in milliseconds",
  ),
  overflowEventsPerSecond: integerSetting(
    100,
    'number of events per second above which the events of a distinct ID go to the topic `overflow`. 0 turns this off',
  ),
  overflowHoldMs: integerSetting(
    300_000,
    'how long the events of a distinct ID continue to go to `overflow` after its event rate has dropped, in milliseconds',
    { min: 1 },
  ),
  dropEventsByTokenDistinctId: Type.String({
    default: '',
    description: 'events to drop, as a comma-separated list of token or token:distinct_id',
  }),
  ingestionForceOverflowByTokenDistinctId: Type.String({
    default: '',
    description:
      'events to write to the topic `overflow` without person processing, as a comma-separated list of token or token:distinct_id',
  }),
  skipPersonProcessingByTokenDistinctId: Type.String({
    default: '',
    description: 'events to store without person processing, as a comma-separated list of token or token:distinct_id',
  }),
  restrictionsRefreshMs: integerSetting(
    5000,
    'maximum time until a change to the ingestion restrictions in the database takes effect, in milliseconds',
    {
      min: 100,
    },
  ),
  trafficReportMs: integerSetting(
    60_000,
    'minimum time between two warnings to a project about dropped events and rejected requests, in milliseconds',
    {
      min: 1,
    },
  ),
  ...secretsKeyConfigFields,
  flagDatabaseConnections: integerSetting(
    4,
    'number of PostgreSQL connections that each process uses for flag requests. Each process uses two more to read flag definitions',
    {
      min: 1,
      max: 100,
    },
  ),
  flagDefinitionsMemoryMb: integerSetting(
    128,
    'maximum size of the flag definitions that each process keeps in memory, in MiB',
    { min: 1 },
  ),
  flagBurstPerKey: integerSetting(
    0,
    'number of flag requests that one project API key may send in a burst. 0 means no limit',
  ),
  flagRequestsPerSecondPerKey: integerSetting(
    10,
    'rate at which FLAG_BURST_PER_KEY refills, in flag requests per second',
    {
      min: 1,
    },
  ),
  flagBurstPerAddress: integerSetting(
    0,
    'number of flag requests that one IP address may send in a burst. 0 means no limit',
  ),
  flagRequestsPerSecondPerAddress: integerSetting(
    50,
    'rate at which FLAG_BURST_PER_ADDRESS refills, in flag requests per second',
    { min: 1 },
  ),
  flagExpensiveBurstMsPerAddress: integerSetting(
    2000,
    'evaluation time that one IP address may use in a burst for expensive flag requests, in milliseconds. Measured separately for each project and process. 0 means no limit',
  ),
  flagExpensiveMsPerSecondPerAddress: integerSetting(
    100,
    'rate at which FLAG_EXPENSIVE_BURST_MS_PER_ADDRESS refills, in milliseconds of evaluation time per second',
    { min: 1 },
  ),
  browserLibraryDirectory: Type.String({
    default: '',
    description:
      'folder that contains the browser library. By default, the folder next to the program, where the build puts the library',
  }),
  ...metricsConfigFields,
  ...logLevelConfigFields,
  stopDelayMs: integerSetting(
    2000,
    'how long a stopping process continues to accept connections after it reports that it is not ready, in milliseconds. Load balancers need this time to notice',
  ),
  drainTimeoutMs: integerSetting(
    25_000,
    'maximum time to finish requests in progress before the process stops, in milliseconds',
  ),
});

export type GatewayConfig = WithDatabaseAddress<Static<typeof gatewayConfigSchema>>;

export type CaptureLimits = Pick<
  GatewayConfig,
  'maxBodyBytes' | 'maxDecompressedBytes' | 'maxRecordBytes' | 'maxAiRecordBytes' | 'bodyTimeoutMs' | 'trustProxy'
>;

export type GatewayRole = 'ingest' | 'flags';

export function parseGatewayRoles({ gatewayRoles }: Pick<GatewayConfig, 'gatewayRoles'>): ReadonlySet<GatewayRole> {
  return new Set(gatewayRoles.split(',').map((role) => role.trim() as GatewayRole));
}
