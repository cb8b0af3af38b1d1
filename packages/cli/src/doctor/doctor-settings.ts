import { fallbackConfigFields } from '@millrace/event-log';
import { integerSetting, secretSetting, secretsKeyFields } from '@millrace/runtime';
import { type Static, Type } from 'typebox';

export const mailFields = secretSetting(
  'smtpUrl',
  Type.Optional(Type.String({ pattern: '^smtps?://[^\\s/]+', description: 'smtp(s)://user:password@host:port' })),
  'read again for each mail',
);

/** Settings of all services that are looked at, beside those of the stores' connections. Their defaults are those of docs/configuration.md. */
export const doctorSettingsSchema = Type.Object({
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
    default: 'kafka',
    description: 'kafka or postgres',
  }),
  ...fallbackConfigFields,
  topicPrefix: Type.String({ default: '' }),
  topicPartitions: integerSetting(12, 'partitions of a topic that is created', { min: 1 }),
  maxRecordBytes: integerSetting(900_000, 'one event as it is written to the log', { min: 1000 }),
  maxBodyBytes: integerSetting(20 * 1024 * 1024, 'request body as it comes over the wire', { min: 1 }),
  maxInFlightBytes: integerSetting(256 * 1024 * 1024, 'bodies held in memory at once', { min: 1 }),
  maxDecompressedBytes: integerSetting(100 * 1024 * 1024, 'request body after decompression', { min: 1 }),
  gatewayProcesses: integerSetting(1, 'processes on the port', { min: 1 }),
  flagDatabaseConnections: integerSetting(4, 'connections for questions about flags, of each process', { min: 1 }),
  /** Pool size of the management API and of delivery workers, whose defaults differ. */
  databasePoolSize: Type.Optional(Type.Integer({ minimum: 1 })),
  kafkaSessionTimeoutMs: integerSetting(6000, 'a member silent for this long loses its partitions', { min: 1000 }),
  keepDeletedIdsDays: integerSetting(90, 'more than the log keeps records', { min: 1 }),
  publicApiUrl: Type.Optional(Type.String()),
  ingestUrl: Type.Optional(Type.String()),
  apiRequestsPerMinute: integerSetting(480, 'requests of one personal API key per minute'),
  apiRequestsPerHour: integerSetting(4800, 'requests of one personal API key per hour'),
  /** Gateways and the management API have different defaults, so that only what is said counts. */
  trustProxy: Type.Optional(Type.Boolean()),
  proxyHops: integerSetting(1, 'with TRUST_PROXY: proxies in front', { min: 1 }),
  allowPrivateDestinations: Type.Boolean({ default: false }),
  ...mailFields,
  smtpFrom: Type.String({ default: 'Millrace <no-reply@localhost>' }),
  ...secretsKeyFields,
  ...secretSetting('tokenSecret', Type.Optional(Type.String()), 'read at the start'),
  nodeEnv: Type.Optional(Type.String()),
});

export type DoctorSettings = Readonly<Static<typeof doctorSettingsSchema>>;
