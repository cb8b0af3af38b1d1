import { fallbackConfigFields } from '@millrace/event-log';
import { integerSetting, readAtStart, secretSetting, secretsKeyFields } from '@millrace/runtime';
import { type Static, Type } from 'typebox';

/** Settings of all services that are looked at, beside those of the stores' connections. Their defaults are those of docs/configuration.md. */
export const doctorSettingsSchema = Type.Object({
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
    default: 'kafka',
    description: 'kafka or postgres',
  }),
  ...fallbackConfigFields,
  topicPrefix: Type.String({ default: '' }),
  topicPartitions: integerSetting(12, 'partitions of a topic that has to be created', { min: 1 }),
  maxRecordBytes: integerSetting(900_000, 'one event as it is written to the log', { min: 1000 }),
  maxBodyBytes: integerSetting(20 * 1024 * 1024, 'request body as it comes over the wire', { min: 1 }),
  maxInFlightBytes: integerSetting(256 * 1024 * 1024, 'bodies held in memory at once', { min: 1 }),
  keepDeletedIdsDays: integerSetting(90, 'more than the log keeps records', { min: 1 }),
  publicApiUrl: Type.Optional(Type.String()),
  /** Gateways and the management API have different defaults, so that only what is said counts. */
  trustProxy: Type.Optional(Type.Boolean()),
  allowPrivateDestinations: Type.Boolean({ default: false }),
  ...secretSetting('smtpUrl', Type.Optional(Type.String()), readAtStart),
  smtpFrom: Type.String({ default: 'Millrace <no-reply@localhost>' }),
  ...secretsKeyFields,
  ...secretSetting('tokenSecret', Type.Optional(Type.String()), readAtStart),
  nodeEnv: Type.Optional(Type.String()),
});

export type DoctorSettings = Readonly<Static<typeof doctorSettingsSchema>>;
