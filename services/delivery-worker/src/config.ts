import { databaseConfigFields } from '@millrace/db';
import { eventStoreFields } from '@millrace/insights';
import { integerSetting, metricsConfigFields, secretSetting, secretsKeyFields } from '@millrace/runtime';
import { Type } from 'typebox';

/** The worker's settings; each is read from the environment variable of its name (`healthPort` ← `HEALTH_PORT`). */
export const configSchema = Type.Object({
  healthPort: integerSetting(8021, 'a TCP port; 0 picks a free one', { max: 65_535 }),
  healthHost: Type.String({ default: '0.0.0.0', description: 'the address to listen on' }),
  ...databaseConfigFields,
  databasePoolSize: integerSetting(8, 'database connections at most', { min: 2, max: 1000 }),
  ...secretSetting(
    'smtpUrl',
    Type.Optional(Type.String({ pattern: '^smtps?://', description: 'smtp(s)://user:password@host:port' })),
    'read again for each mail',
  ),
  smtpFrom: Type.String({ default: 'Millrace <no-reply@localhost>', description: 'sender of mails' }),
  smtpTimeoutMs: integerSetting(20_000, 'milliseconds one attempt to send a mail may take', { min: 1, max: 60_000 }),
  mailsPerOrganizationHour: integerSetting(
    1000,
    'mails one organization may send in an hour, reports and invites together; the same for the API; 0 = no limit',
  ),
  ...eventStoreFields,
  ...secretSetting(
    'clickhousePostgresUrl',
    Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://[^\\s]+$',
        description:
          'with EVENT_STORE=clickhouse: PostgreSQL as ClickHouse reaches it, with a role that reads the schema `clickhouse`; by default the address of the worker',
      }),
    ),
    'read at the start',
  ),
  publicAppUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'http(s) address of an application of PostHog that reports link to; by default they link to the console',
    }),
  ),
  publicApiUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'http(s) address under which people reach the API: reports link to its console, and Slack takes pictures from it',
    }),
  ),
  dnsServers: Type.Optional(
    Type.String({
      pattern: '^\\s*[^\\s,]+(\\s*,\\s*[^\\s,]+)*\\s*$',
      description: 'name servers asked daily whether domains are still proved; the same for the management API',
    }),
  ),
  allowPrivateDestinations: Type.Boolean({
    default: false,
    description: 'allow webhooks and exports to reach private networks',
  }),
  ...secretsKeyFields,
  keepOutcomesDays: integerSetting(90, 'days to keep the history of deliveries and export runs', { min: 1 }),
  eventRetentionDays: integerSetting(
    0,
    'days events are kept at most, by whole months; 0 = for ever; the same for the consumer. An environment can keep less, to the day (`…/event_retention/`)',
    { min: 0, max: 36_500 },
  ),
  postgresEventDays: integerSetting(
    0,
    'with EVENT_STORE=clickhouse: days PostgreSQL keeps events that ClickHouse has, by whole months; 0 = as long as ClickHouse',
    { min: 0, max: 36_500 },
  ),
  keepWarningsDays: integerSetting(90, 'days ingestion warnings are kept at most', { min: 1, max: 36_500 }),
  keepActivityDays: integerSetting(730, 'days to keep the activity log', { min: 1, max: 36_500 }),
  keepDeletedIdsDays: integerSetting(
    90,
    'days to keep hashes of the distinct ids of deleted persons; longer than the log keeps records',
    { min: 1 },
  ),
  recountCohortsHours: integerSetting(24, 'hours between two counts of the persons of a cohort that nobody changed', {
    min: 1,
    max: 8760,
  }),
  pollIntervalMs: integerSetting(1000, 'poll interval in milliseconds', { min: 10 }),
  ...metricsConfigFields,
  logLevel: Type.String({
    default: 'info',
    pattern: '^(error|warn|info|debug)$',
    description: 'error, warn, info or debug',
  }),
  drainTimeoutMs: integerSetting(30_000, 'milliseconds work in progress may take while stopping'),
});
