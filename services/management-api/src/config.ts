import { databaseConfigFields, type withDatabaseAddress } from '@millrace/db';
import { kafkaConfigFields } from '@millrace/event-log';
import { eventStoreFields } from '@millrace/insights';
import { integerSetting, metricsConfigFields, secretSetting, secretsKeyFields } from '@millrace/runtime';
import { redisConfigFields } from '@millrace/runtime/cache';
import { type Static, Type } from 'typebox';
import { providerFields } from './oidc/providers.ts';
import { secretList } from './signing-secret.ts';

/** Environment variables of the management API (`apiPort` is read from `API_PORT`). */
export const configSchema = Type.Object({
  apiPort: integerSetting(8010, 'port to listen on; 0 picks a free one', { max: 65_535 }),
  apiHost: Type.String({ default: '0.0.0.0', description: 'address to listen on' }),
  ...databaseConfigFields,
  databasePoolSize: integerSetting(10, 'database connections at most, two fifths of them for searches', {
    min: 2,
    max: 1000,
  }),
  queryConnections: integerSetting(4, 'database connections for insight queries, beside those of the pool', {
    min: 1,
    max: 100,
  }),
  queryTimeoutMs: integerSetting(30_000, 'milliseconds one insight query may take', { min: 100, max: 600_000 }),
  ...eventStoreFields,
  publicApiUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'http(s) address under which clients reach the API; single sign-on and passkeys need it, and links in mails',
    }),
  ),
  publicAppUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'http(s) address of an application of PostHog that reports link to; the same for the delivery worker',
    }),
  ),
  consoleDirectory: Type.Optional(
    Type.String({ description: 'folder of the console’s pages; by default `console` beside the program' }),
  ),
  publicIngestUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description: 'http(s) address to which SDKs send events, shown by the console; by default the console’s own',
    }),
  ),
  ingestUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'http(s) address of a gateway, to which requests of SDKs for flag definitions are passed on, and test events',
    }),
  ),
  captureUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description: 'http(s) address of a gateway that takes test events, where that of INGEST_URL answers flags only',
    }),
  ),
  trustProxy: Type.Boolean({
    default: false,
    description: 'true when a proxy in front sets X-Forwarded-Proto and X-Forwarded-Host',
  }),
  proxyHops: integerSetting(
    1,
    'with TRUST_PROXY: number of proxies in front that append to X-Forwarded-For; the entry of the outermost is the client’s',
    { min: 1, max: 20 },
  ),
  dnsServers: Type.Optional(
    Type.String({
      pattern: '^\\s*[^\\s,]+(\\s*,\\s*[^\\s,]+)*\\s*$',
      description: 'name servers that prove domains, as addresses separated by commas; the system’s own by default',
    }),
  ),
  ...secretSetting(
    'smtpUrl',
    Type.Optional(
      Type.String({
        pattern: '^smtps?://[^\\s]+$',
        description: 'smtp://user:password@host:port of the mail server; without it no mail is sent',
      }),
    ),
    'read again for each mail',
  ),
  smtpFrom: Type.String({ default: 'Millrace <no-reply@localhost>', description: 'sender of mails' }),
  ...providerFields,
  allowPrivateDestinations: Type.Boolean({
    default: false,
    description:
      'true: OpenID providers that organizations set up may be in private networks, and without TLS; the same for the delivery worker',
  }),
  ...redisConfigFields,
  apiRequestsPerMinute: integerSetting(480, 'requests of one personal API key per minute; 0 = no limit'),
  apiRequestsPerHour: integerSetting(4800, 'requests of one personal API key per hour; 0 = no limit'),
  apiWrongKeysPerMinute: integerSetting(
    30,
    'requests with a wrong key or none from one address per minute before it is shut out; 0 = no limit',
  ),
  subscriptionsPerOrganization: integerSetting(500, 'subscriptions one organization may have; 0 = no limit'),
  mailsPerOrganizationHour: integerSetting(
    1000,
    'mails one organization may send in an hour, invites and reports together; the same for the delivery worker; 0 = no limit',
  ),
  apiSignUpsPerMinute: integerSetting(
    20,
    'requests for invites without a key from one address per minute, and wrong ones for one invite; 0 = no limit',
  ),
  apiUserChangesPerMinute: integerSetting(5, 'changes of their own account one user may try per minute; 0 = no limit'),
  console: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'on',
    description:
      'on or off: whether pages are served below /console/ and people may sign in; with off there are personal API keys only',
  }),
  apiSignInFailures: integerSetting(30, 'failed sign-ins from one address in ten minutes; 0 = no limit'),
  apiSignInFailuresOfAccount: integerSetting(
    10,
    'failed sign-ins to one account in a quarter of an hour, from wherever; 0 = no limit',
  ),
  apiSecondFactorFailures: integerSetting(
    6,
    'wrong codes of a second factor of one account in twenty minutes, from wherever; 0 = no limit',
  ),
  apiSignInQuestionsPerMinute: integerSetting(
    30,
    'questions of one address per minute about how to sign in, and about links; 0 = no limit',
  ),
  apiResetsPerDay: integerSetting(
    6,
    'password reset emails to one address per day, and codes for a new address that one account may request per day; with any limit also 20 of each per hour for one client; 0 = no limit',
  ),
  ...secretsKeyFields,
  nodeEnv: Type.Optional(
    Type.String({ description: '`production`: secrets of batch exports are stored encrypted or not at all' }),
  ),
  ...secretSetting(
    'tokenSecret',
    Type.Optional(
      Type.String({
        pattern: secretList,
        description:
          'signs tokens for live events, at least 16 characters; several separated by commas: the first signs, all are accepted; default: random, valid until the process ends and in this process alone',
      }),
    ),
    'read again for each token',
  ),
  eventLog: Type.Optional(
    Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
      description: 'kafka or postgres, as for the event consumer; without it there are no live events and dead letters',
    }),
  ),
  ...kafkaConfigFields,
  topicPrefix: Type.String({ default: '', description: 'put before every topic and group name' }),
  publishProcessed: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'off',
    description: 'on or off, as for the event consumer: live events are read from events.processed',
  }),
  liveOrigins: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s,/]+(\\s*,\\s*https?://[^\\s,/]+)*$',
      description: 'origins, separated by commas, whose pages may read /events and /stats; by default none',
    }),
  ),
  liveStreamsPerUser: integerSetting(10, 'streams of live events one user may have open in one process', { min: 1 }),
  liveStreamsPerProject: integerSetting(50, 'streams of live events of one environment in one process', { min: 1 }),
  liveStreamsPerProcess: integerSetting(1000, 'streams of live events open in one process', { min: 1 }),
  ...metricsConfigFields,
  logLevel: Type.String({
    default: 'info',
    pattern: '^(error|warn|info|debug)$',
    description: 'error, warn, info or debug',
  }),
  stopDelayMs: integerSetting(
    2000,
    'milliseconds between turning unready and refusing connections, so that load balancers notice',
  ),
  drainTimeoutMs: integerSetting(15_000, 'milliseconds requests in progress may take while stopping'),
});

export type ApiConfig = ReturnType<typeof withDatabaseAddress<Static<typeof configSchema>>>;
