import { databaseConfigFields } from '@millrace/db';
import { eventStoreFields } from '@millrace/insights';
import {
  integerSetting,
  logLevelConfigFields,
  metricsConfigFields,
  secretSetting,
  secretsKeyConfigFields,
} from '@millrace/runtime';
import { Type } from 'typebox';

/** The worker's settings. The environment variable `HEALTH_PORT` sets `healthPort`. */
export const configSchema = Type.Object({
  healthPort: integerSetting(8021, 'TCP port for health endpoints and metrics; 0 picks a free port', {
    max: 65_535,
  }),
  healthHost: Type.String({ default: '0.0.0.0', description: 'address to listen on' }),
  ...databaseConfigFields,
  databasePoolSize: integerSetting(8, 'maximum number of connections to PostgreSQL', { min: 2, max: 1000 }),
  ...secretSetting(
    'smtpUrl',
    Type.Optional(
      Type.String({
        pattern: '^smtps?://',
        description:
          'URL of the mail server, for example smtps://user:password@host:port. If unset, no emails are sent',
      }),
    ),
    'again for each email',
  ),
  smtpFrom: Type.String({ default: 'Millrace <no-reply@localhost>', description: 'sender address of emails' }),
  smtpTimeoutMs: integerSetting(20_000, 'maximum time for one attempt to send an email, in milliseconds', {
    min: 1,
    max: 60_000,
  }),
  mailsPerOrganizationHour: integerSetting(
    1000,
    'maximum number of emails that an organization can send per hour, including reports and invites. 0 means no limit. Must be the same as for the management API',
  ),
  ...eventStoreFields,
  ...secretSetting(
    'clickhousePostgresUrl',
    Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://[^\\s]+$',
        description:
          'with EVENT_STORE=clickhouse: connection URL that ClickHouse uses to read from PostgreSQL. Its role must be able to read the schema `clickhouse`. Default: DATABASE_URL',
      }),
    ),
    'at startup',
  ),
  publicAppUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'URL (http or https) of a PostHog application to use for links in reports. By default, links in reports lead to the console',
    }),
  ),
  publicApiUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'public URL (http or https) of the management API. Reports link to the console at this URL, and Slack loads pictures from it',
    }),
  ),
  dnsServers: Type.Optional(
    Type.String({
      pattern: '^\\s*[^\\s,]+(\\s*,\\s*[^\\s,]+)*\\s*$',
      description:
        'comma-separated addresses of the name servers for the daily check of verified domains. Default: the system name servers. Must be the same as for the management API',
    }),
  ),
  allowPrivateDestinations: Type.Boolean({
    default: false,
    description:
      'allow webhooks and batch exports to connect to private networks. Must be the same as for the management API',
  }),
  ...secretsKeyConfigFields,
  keepOutcomesDays: integerSetting(90, 'number of days to keep delivery and batch export run history', {
    min: 1,
  }),
  eventRetentionDays: integerSetting(
    0,
    'maximum number of days to keep events, which are deleted in whole months. 0 means no limit. Must be the same as for the consumer. An environment can have a shorter retention period, which is accurate to the day (`…/event_retention/`)',
    { min: 0, max: 36_500 },
  ),
  postgresEventDays: integerSetting(
    0,
    'with EVENT_STORE=clickhouse: number of days that PostgreSQL keeps events that have been copied to ClickHouse. These events are deleted in whole months. 0 keeps them in PostgreSQL for as long as in ClickHouse',
    { min: 0, max: 36_500 },
  ),
  keepWarningsDays: integerSetting(90, 'maximum number of days to keep ingestion warnings', { min: 1, max: 36_500 }),
  keepActivityDays: integerSetting(730, 'number of days to keep the activity log', { min: 1, max: 36_500 }),
  keepDeletedIdsDays: integerSetting(
    90,
    'number of days to keep hashed distinct IDs of deleted persons. Must be longer than the retention period of the event log',
    { min: 1 },
  ),
  recountCohortsHours: integerSetting(
    24,
    'interval after which the persons in an unchanged cohort are counted again, in hours',
    {
      min: 1,
      max: 8760,
    },
  ),
  pollIntervalMs: integerSetting(1000, 'interval between checks for due work, in milliseconds', { min: 10 }),
  ...metricsConfigFields,
  ...logLevelConfigFields,
  drainTimeoutMs: integerSetting(
    30_000,
    'maximum time to finish work in progress before the process stops, in milliseconds',
  ),
});
