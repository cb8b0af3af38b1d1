import { databaseConfigFields, type withDatabaseAddress } from '@millrace/db';
import { kafkaConfigFields } from '@millrace/event-log';
import { eventStoreFields } from '@millrace/insights';
import {
  integerSetting,
  logLevelConfigFields,
  metricsConfigFields,
  secretSetting,
  secretsKeyConfigFields,
} from '@millrace/runtime';
import { redisConfigFields } from '@millrace/runtime/cache';
import { type Static, Type } from 'typebox';
import { providerFields } from './identity/oidc/providers.ts';
import { secretList } from './signing-secret.ts';

/** Environment variables of the management API. For example, `apiPort` is read from `API_PORT`. */
export const configSchema = Type.Object({
  apiPort: integerSetting(8010, 'TCP port to listen on; 0 picks a free port', { max: 65_535 }),
  apiHost: Type.String({ default: '0.0.0.0', description: 'address to listen on' }),
  ...databaseConfigFields,
  databasePoolSize: integerSetting(
    10,
    'maximum number of connections to PostgreSQL. Two fifths of them are reserved for searches',
    {
      min: 2,
      max: 1000,
    },
  ),
  queryConnections: integerSetting(
    4,
    'number of PostgreSQL connections for insight queries, in addition to DATABASE_POOL_SIZE',
    {
      min: 1,
      max: 100,
    },
  ),
  queryTimeoutMs: integerSetting(30_000, 'maximum time for one insight query, in milliseconds', {
    min: 100,
    max: 600_000,
  }),
  ...eventStoreFields,
  publicApiUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'public URL (http or https) of the management API. Required for single sign-on, passkeys and links in emails',
    }),
  ),
  publicAppUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'URL (http or https) of a PostHog application to use for links in reports. By default, links in reports lead to the console. Must be the same as for the delivery worker',
    }),
  ),
  consoleDirectory: Type.Optional(
    Type.String({
      description: 'folder that contains the console pages. Default: the folder `console` next to the program',
    }),
  ),
  publicIngestUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'URL (http or https) to which SDKs send events, as shown in the console. Default: the URL of the console',
    }),
  ),
  ingestUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'URL (http or https) of a gateway to which the management API forwards test events and SDK requests for flag definitions',
    }),
  ),
  captureUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'URL (http or https) of a gateway that accepts test events. Set this if the gateway at INGEST_URL serves only flags',
    }),
  ),
  trustProxy: Type.Boolean({
    default: false,
    description:
      'trust X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host. Set it to true only behind a proxy that sets them',
  }),
  proxyHops: integerSetting(
    1,
    'with TRUST_PROXY: number of proxies that append to X-Forwarded-For. The entry that the outermost proxy adds is the client address',
    { min: 1, max: 20 },
  ),
  dnsServers: Type.Optional(
    Type.String({
      pattern: '^\\s*[^\\s,]+(\\s*,\\s*[^\\s,]+)*\\s*$',
      description:
        "comma-separated addresses of the name servers used to verify domains. Default: the system's name servers",
    }),
  ),
  ...secretSetting(
    'smtpUrl',
    Type.Optional(
      Type.String({
        pattern: '^smtps?://[^\\s]+$',
        description:
          'URL of the mail server, for example smtps://user:password@host:port. If unset, no emails are sent',
      }),
    ),
    'again for each email',
  ),
  smtpFrom: Type.String({ default: 'Millrace <no-reply@localhost>', description: 'sender address of emails' }),
  ...providerFields,
  allowPrivateDestinations: Type.Boolean({
    default: false,
    description:
      'allow organizations to use identity providers in private networks and without TLS. Must be the same as for the delivery worker',
  }),
  ...redisConfigFields,
  apiRequestsPerMinute: integerSetting(
    480,
    'maximum number of requests per minute with one personal API key. 0 means no limit',
  ),
  apiRequestsPerHour: integerSetting(
    4800,
    'maximum number of requests per hour with one personal API key. 0 means no limit',
  ),
  apiWrongKeysPerMinute: integerSetting(
    30,
    'number of requests per minute with a wrong or missing key after which an IP address is blocked. 0 means no limit',
  ),
  subscriptionsPerOrganization: integerSetting(
    500,
    'maximum number of subscriptions per organization. 0 means no limit',
  ),
  mailsPerOrganizationHour: integerSetting(
    1000,
    'maximum number of emails that an organization can send per hour, including reports and invites. 0 means no limit. Must be the same as for the delivery worker',
  ),
  apiSignUpsPerMinute: integerSetting(
    20,
    'maximum number of invite requests without an API key per minute from one IP address. Also the maximum number of failed requests per minute for one invite. 0 means no limit',
  ),
  apiUserChangesPerMinute: integerSetting(
    5,
    'maximum number of times per minute that a user can try to change their own account. 0 means no limit',
  ),
  console: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'on',
    description:
      'whether to serve the console under /console/ and allow users to sign in. With `off`, the API accepts only personal API keys',
  }),
  apiSignInFailures: integerSetting(
    30,
    'maximum number of failed sign-ins in ten minutes from one IP address. 0 means no limit',
  ),
  apiSignInFailuresOfAccount: integerSetting(
    10,
    'maximum number of failed sign-ins to one account in 15 minutes, from all IP addresses together. 0 means no limit',
  ),
  apiSecondFactorFailures: integerSetting(
    6,
    'maximum number of wrong second-factor codes for one account in 20 minutes, from all IP addresses together. 0 means no limit',
  ),
  apiSignInQuestionsPerMinute: integerSetting(
    30,
    'maximum number of other requests without a session per minute from one IP address, such as requests for sign-in links. 0 means no limit',
  ),
  apiResetsPerDay: integerSetting(
    6,
    'maximum number of password reset emails to one address per day. The same maximum applies to the verification codes that an account can request for a new email address. If the value is not 0, one IP address can also request at most 20 of each per hour. 0 turns off all of these limits',
  ),
  ...secretsKeyConfigFields,
  nodeEnv: Type.Optional(
    Type.String({
      description:
        'if set to `production`, secrets such as batch export credentials can be stored only if SECRETS_KEY is set',
    }),
  ),
  ...secretSetting(
    'tokenSecret',
    Type.Optional(
      Type.String({
        pattern: secretList,
        description:
          'secret for signing live event tokens, at least 16 characters. If you set several secrets, separated by commas, the first one signs new tokens, and tokens signed with any of them are accepted. By default, each process uses its own random secret',
      }),
    ),
    'again for each token',
  ),
  eventLog: Type.Optional(
    Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
      description:
        'event log to read live events and dead letters from. Must be the same as for the event consumer. If unset, live events and dead letters are not available',
    }),
  ),
  ...kafkaConfigFields,
  topicPrefix: Type.String({
    default: '',
    description: 'prefix of every topic and consumer group name. Must be the same for all services',
  }),
  publishProcessed: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'off',
    description:
      'whether stored events are published to the topic events.processed, from which live events are read. Must be the same as for the event consumer',
  }),
  liveOrigins: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s,/]+(\\s*,\\s*https?://[^\\s,/]+)*$',
      description: 'comma-separated origins whose web pages can read /events and /stats. By default, none',
    }),
  ),
  liveStreamsPerUser: integerSetting(10, 'maximum number of open live event streams per user and process', { min: 1 }),
  liveStreamsPerProject: integerSetting(50, 'maximum number of open live event streams per environment and process', {
    min: 1,
  }),
  liveStreamsPerProcess: integerSetting(1000, 'maximum number of open live event streams per process', { min: 1 }),
  ...metricsConfigFields,
  ...logLevelConfigFields,
  stopDelayMs: integerSetting(
    2000,
    'how long a stopping process continues to accept connections after it reports that it is not ready, in milliseconds. Load balancers need this time to notice',
  ),
  drainTimeoutMs: integerSetting(
    15_000,
    'maximum time to finish requests in progress before the process stops, in milliseconds',
  ),
});

export type ApiConfig = ReturnType<typeof withDatabaseAddress<Static<typeof configSchema>>>;
