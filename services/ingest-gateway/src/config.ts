import { databaseConfigFields, type WithDatabaseAddress } from '@millrace/db/sql';
import { fallbackConfigFields, kafkaConfigFields } from '@millrace/event-log';
import { integerSetting, metricsConfigFields, secretsKeyFields } from '@millrace/runtime';
import { redisConfigFields } from '@millrace/runtime/cache';
import { traceChoiceConfigFields, tracingConfigFields } from '@millrace/runtime/tracing';
import { type Static, Type } from 'typebox';

const mebibyte = 1024 * 1024;

/** The gateway's settings; each is read from the environment variable of its name (`ingestPort` ← `INGEST_PORT`). */
export const gatewayConfigSchema = Type.Object({
  ingestPort: integerSetting(8000, 'a TCP port; 0 picks a free one', { max: 65_535 }),
  ingestHost: Type.String({ default: '0.0.0.0', description: 'the address to listen on' }),
  gatewayRoles: Type.String({
    default: 'ingest,flags',
    pattern: '^\\s*(ingest|flags)(\\s*,\\s*(ingest|flags))?\\s*$',
    description:
      'which requests this gateway serves, separated by commas: ingest (events), flags (flags and their definitions)',
  }),
  gatewayProcesses: integerSetting(1, 'processes on the port, e.g. one per core; they share MAX_IN_FLIGHT_BYTES', {
    min: 1,
    max: 256,
  }),
  ...databaseConfigFields,
  ...redisConfigFields,
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
    default: 'kafka',
    description: 'kafka or postgres',
  }),
  ...kafkaConfigFields,
  ...fallbackConfigFields,
  ...tracingConfigFields,
  ...traceChoiceConfigFields,
  topicPrefix: Type.String({ default: '', description: 'put before every topic name' }),
  topicPartitions: integerSetting(12, 'partitions of a topic that is created', { min: 1 }),
  maxBodyBytes: integerSetting(20 * mebibyte, 'request body as it comes over the wire', { min: 1 }),
  maxDecompressedBytes: integerSetting(100 * mebibyte, 'request body after decompression', { min: 1 }),
  maxRecordBytes: integerSetting(
    1_010_000,
    'one event as it is written to the log; one of 1,000,000 bytes fits with what is added to it',
    { min: 1000 },
  ),
  maxAiRecordBytes: integerSetting(
    8_400_000,
    'the same for events sent to /i/v0/ai and /i/v0/ai/batch; one of 8 MiB fits with what is added to it',
    { min: 1000 },
  ),
  maxInFlightBytes: integerSetting(256 * mebibyte, 'bytes of bodies held in memory at once, over all requests', {
    min: 1,
  }),
  largeBodyThreads: integerSetting(
    1,
    'threads that decode and validate bodies over 256 KiB; one more is for those without a known key',
    { min: 1, max: 64 },
  ),
  largeBodyHeapMb: integerSetting(1024, 'JavaScript objects one such thread may hold, in MiB', { min: 16 }),
  bodyTimeoutMs: integerSetting(30_000, 'milliseconds an upload may pause', { min: 1 }),
  keepAliveTimeoutMs: integerSetting(
    75_000,
    'milliseconds an idle connection is kept; set it longer than the proxy keeps it',
  ),
  trustProxy: Type.Boolean({
    default: true,
    description: 'trust X-Forwarded-For, X-Real-IP and Forwarded',
  }),
  limitFlushMs: integerSetting(100, 'milliseconds counts are gathered before they are shared with other gateways', {
    min: 1,
  }),
  trafficWindowMs: integerSetting(10_000, 'window for rates, spikes and hot keys, in milliseconds', { min: 100 }),
  spikeMinEventsPerSecond: integerSetting(100, 'a project that sends less is never in a spike', { min: 1 }),
  spikeFactor: integerSetting(5, 'how many times its usual traffic a project sends in a spike', { min: 1 }),
  spikeWarmUpMs: integerSetting(60_000, 'milliseconds after its start in which a gateway learns what is usual'),
  overflowEventsPerSecond: integerSetting(
    100,
    'a distinct id that sends more goes to the overflow lane; 0 = none does',
  ),
  overflowHoldMs: integerSetting(300_000, 'milliseconds it stays there after it has calmed down', { min: 1 }),
  dropEventsByTokenDistinctId: Type.String({
    default: '',
    description: 'token or token:distinct_id, separated by commas: drop',
  }),
  ingestionForceOverflowByTokenDistinctId: Type.String({
    default: '',
    description: 'token or token:distinct_id, separated by commas: to the overflow lane, without persons',
  }),
  skipPersonProcessingByTokenDistinctId: Type.String({
    default: '',
    description: 'token or token:distinct_id, separated by commas: store without persons',
  }),
  restrictionsRefreshMs: integerSetting(
    5000,
    "milliseconds after which a change of the operator's lists is seen at the latest",
    {
      min: 100,
    },
  ),
  trafficReportMs: integerSetting(60_000, 'milliseconds between two warnings to a project about drops and refusals', {
    min: 1,
  }),
  ...secretsKeyFields,
  flagDatabaseConnections: integerSetting(
    4,
    'PostgreSQL connections of each process for flag requests; two more read definitions',
    {
      min: 1,
      max: 100,
    },
  ),
  flagDefinitionsMemoryMb: integerSetting(128, 'flag definitions kept in memory by each process, in MiB', { min: 1 }),
  flagBurstPerKey: integerSetting(0, 'flag requests with one project API key at once; 0 = no limit'),
  flagRequestsPerSecondPerKey: integerSetting(10, 'requests per second refilled', { min: 1 }),
  flagBurstPerAddress: integerSetting(0, 'flag requests from one address at once; 0 = no limit'),
  flagRequestsPerSecondPerAddress: integerSetting(50, 'requests per second refilled', { min: 1 }),
  flagExpensiveBurstMsPerAddress: integerSetting(
    2000,
    'milliseconds of evaluation one address may use at once for expensive flag requests of a project, in each process; 0 = no limit',
  ),
  flagExpensiveMsPerSecondPerAddress: integerSetting(100, 'milliseconds refilled per second', { min: 1 }),
  browserLibraryDirectory: Type.String({
    default: '',
    description: 'folder of the browser library to serve; empty: beside the program, where the build puts it',
  }),
  ...metricsConfigFields,
  logLevel: Type.String({ default: 'info', description: 'error, warn, info or debug' }),
  stopDelayMs: integerSetting(
    2000,
    'milliseconds between turning unready and refusing connections, so that load balancers notice',
  ),
  drainTimeoutMs: integerSetting(25_000, 'milliseconds stopping may take'),
});

export type GatewayConfig = WithDatabaseAddress<Static<typeof gatewayConfigSchema>>;

/** What one request may cost; the part of the config that the capture steps need. */
export type CaptureLimits = Pick<
  GatewayConfig,
  'maxBodyBytes' | 'maxDecompressedBytes' | 'maxRecordBytes' | 'maxAiRecordBytes' | 'bodyTimeoutMs' | 'trustProxy'
>;

export type GatewayRole = 'ingest' | 'flags';

export function rolesOf({ gatewayRoles }: Pick<GatewayConfig, 'gatewayRoles'>): ReadonlySet<GatewayRole> {
  return new Set(gatewayRoles.split(',').map((role) => role.trim() as GatewayRole));
}
