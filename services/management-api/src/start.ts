import { fileURLToPath } from 'node:url';
import { createChallengeLookup, createPasswords } from '@millrace/accounts';
import { topicNames } from '@millrace/contracts';
import {
  createDatabase,
  createReadPool,
  createSqlDatabase,
  type Database,
  readSealingKeyIds,
  withDatabaseAddress,
} from '@millrace/db';
import { createKafkaLog, createPostgresLog, type EventLog, toKafkaConnection } from '@millrace/event-log';
import { startHttpServer } from '@millrace/http';
import { createSqlParser, openEventStore, type SqlParser } from '@millrace/insights';
import {
  createSecretBox,
  createSecretReader,
  type Lifecycle,
  type Logger,
  type Metrics,
  readConfig,
  type SecretBox,
  type Service,
  type ServiceHost,
  startComponents,
} from '@millrace/runtime';
import { createInProcessStore, createRedisStore, type KeyValueStore, toRedisConnection } from '@millrace/runtime/cache';
import { createMailer } from '@millrace/runtime/mail';
import { createSearches } from './access/searches.ts';
import type { TimeLimitedEventStore } from './analytics/events/reads.ts';
import { createQueryRunner, type QueryRunner } from './analytics/query/query-runner.ts';
import { createApp } from './app/app.ts';
import { readSharedPage, serveConsole } from './app/console/serve.ts';
import { passToGateway } from './app/sdk-requests/pass-to-gateway.ts';
import { watchDatabase } from './app/watch-database.ts';
import { type ApiConfig, configSchema } from './config.ts';
import { createDestinationSecrets } from './deliveries/batch-exports/destinations.ts';
import { createPayloadSecrets } from './flags/feature-flags/payloads.ts';
import { createInviteMailing, type InviteMailing } from './identity/invites/mailing.ts';
import { createOidcSignIn } from './identity/oidc/oidc-sign-in.ts';
import { createProviders } from './identity/oidc/providers.ts';
import { type AccountMailing, createAccountMailing } from './identity/sign-in/account-mailing.ts';
import { createSecretEncryption } from './identity/sign-in/secret-encryption.ts';
import { createLive } from './operations/live/live.ts';
import { readSigningSecrets } from './signing-secret.ts';

/**
 * Statement timeout in milliseconds. It is longer than any statement should take, but shorter than the timeouts of
 * users and proxies.
 */
const statementTimeoutMs = 20_000;
/** Time limit in milliseconds for a search, which may have to read all rows of a project. */
const searchTimeoutMs = 10_000;

const readSettings = (env: Record<string, string | undefined>) => withDatabaseAddress(readConfig(configSchema, env));

export const managementApi: Service<ApiConfig> = {
  name: 'management-api',
  readConfig: readSettings,
  // Allow time to close the database after the last requests.
  stopWithinMs: ({ stopDelayMs, drainTimeoutMs }) => stopDelayMs + drainTimeoutMs + 5000,
  start: (config, host) => startComponents(host.logger, (lifecycle) => begin(config, host, lifecycle)),
};

async function begin(config: ApiConfig, host: ServiceHost, lifecycle: Lifecycle) {
  const { logger, metrics, health } = host;
  const connections = (poolSize: number, timeoutMs: number) => ({
    ...{ ...connectionOptions, url: config.databaseUrl, logger, poolSize, statementTimeoutMs: timeoutMs },
    // The client's timeout is slightly longer than the server's own. It applies only if the server does not respond at
    // all.
    queryTimeoutMs: timeoutMs + 2000,
  });
  // Searches can use only some of the connections. The remaining connections are for other requests.
  const searchConnections = Math.max(1, Math.floor(config.databasePoolSize * 0.4));
  const database = lifecycle.own(
    'database',
    createDatabase(connections(config.databasePoolSize - searchConnections, statementTimeoutMs)),
  );
  const searchDatabase = lifecycle.own(
    'database for searches',
    createSqlDatabase(connections(searchConnections, searchTimeoutMs)),
  );
  const watch = lifecycle.own(
    'database watch',
    await watchDatabase(database.sql, { intervalMs: 2000, patienceMs: 3000 }),
  );
  health.addReadinessCheck('database', () => (watch.isResponding() ? null : 'The database does not respond.'));
  const secretBox = createSecretBox(createSecretReader(config, 'secretsKey'));
  if (watch.isResponding()) secretBox.requireKeys(await readSealingKeyIds(database.sql));
  const isProduction = config.nodeEnv === 'production';
  if (!config.secretsKey) warnOfMissingKey(logger, isProduction);
  const redis = toRedisConnection(config);
  const keyValue = lifecycle.own('key-value store', redis ? createRedisStore(redis, logger) : createInProcessStore());
  const { inviteMailing, accountMailing } = startMailing(lifecycle, { config, database, logger, metrics });
  const { topicPrefix } = config;
  const [log, topics] = [openLog(config, { lifecycle, logger, metrics }), topicNames(topicPrefix)];
  const live = createLive({
    ...{ sql: database.sql, logger, metrics, topicPrefix, topics, log },
    publishes: config.publishProcessed === 'on',
    streamsPerUser: config.liveStreamsPerUser,
    streamsPerProject: config.liveStreamsPerProject,
    streamsPerProcess: config.liveStreamsPerProcess,
  });
  const app = createApp({
    live,
    deadLetterLog: log && { log, topics },
    sql: database.sql,
    transaction: database.transaction,
    searches: createSearches({ sql: searchDatabase.sql, connections: searchConnections }),
    addresses: { publicAppUrl: config.publicAppUrl, publicApiUrl: config.publicApiUrl },
    ...startQueries(lifecycle, { config, database, logger, keyValue }),
    lookUpChallenge: createChallengeLookup({ servers: listOf(config.dnsServers), timeoutMs: 2000 }),
    inviteMailing,
    accountMailing,
    ...secretsBy(secretBox, { mayBePlain: !isProduction }),
    withSignIn: config.console === 'on',
    passwords: createPasswords(),
    installedProviders: createProviders(config),
    oidc: createOidcSignIn({ mayBePrivate: config.allowPrivateDestinations }),
    keyValue,
    limits: limitsOf(config),
    ingestUrl: config.captureUrl ?? config.ingestUrl,
    maxSubscriptions: config.subscriptionsPerOrganization,
    tokenSecrets: readSigningSecrets(config),
    logger,
    metrics,
    health,
    publicUrl: config.publicApiUrl,
    liveOrigins: listOf(config.liveOrigins),
    trustedProxies: config.trustProxy ? config.proxyHops : 0,
    ...(config.console === 'on' && (await consolePages(config))),
    gateway: config.ingestUrl
      ? passToGateway({ url: config.ingestUrl, isBehindProxy: config.trustProxy, timeoutMs: 10_000, logger })
      : undefined,
  });
  const server = await startHttpServer(app, {
    port: config.apiPort,
    host: config.apiHost,
    setting: 'API_PORT',
    drainTimeoutMs: config.drainTimeoutMs,
    stopGraceMs: config.stopDelayMs,
  });
  lifecycle.own('http server', server);
  // Live streams end only when they are stopped. Stop them before the server waits for its last responses.
  lifecycle.own('live streams', live);
  lifecycle.own('readiness', { stop: async () => health.setStopping() });
  return { port: server.port };
}

const listOf = (text: string | undefined) => text?.split(',').map((part) => part.trim()) ?? [];

function startQueries(
  lifecycle: Lifecycle,
  {
    config,
    database: { sql },
    logger,
    keyValue,
  }: { config: ApiConfig; database: Database; logger: Logger; keyValue: KeyValueStore },
): { queryRunner: QueryRunner; parser: SqlParser; externalEventStore: TimeLimitedEventStore | null } {
  const { databaseUrl: url, queryConnections: connections, queryTimeoutMs } = config;
  const names = { applicationName: 'millrace-management-api queries', statementTimeoutMs: queryTimeoutMs };
  const reader = lifecycle.own(
    'connections for queries',
    createReadPool({ url, logger, poolSize: connections, ...names }),
  );
  const store = lifecycle.own('event store', openEventStore(config, { reader, maxMs: queryTimeoutMs }));
  const parser = lifecycle.own('SQL parser', createSqlParser());
  const queryRunner = createQueryRunner({
    ...{ sql, keyValue, logger, parser },
    events: store.events,
    searches: createSearches({ sql, connections }),
    maxMs: store.maxMs,
  });
  const { clickhouse, events, maxMs } = store;
  return {
    queryRunner: lifecycle.own('queries', queryRunner),
    parser,
    externalEventStore: clickhouse && { events, maxMs },
  };
}

/** The PostgreSQL log uses separate connections, so that log readers and requests do not wait for each other. */
const logPool = { poolSize: 3, connectTimeoutMs: 2000, statementTimeoutMs: 5000, queryTimeoutMs: 6000 };

/** Opens the event log of the event consumer. Returns null if no event log is configured. */
function openLog(
  config: ApiConfig,
  { lifecycle, logger, metrics }: { lifecycle: Lifecycle; logger: Logger; metrics: Metrics },
): EventLog | null {
  if (config.eventLog === undefined) return null;
  const log =
    config.eventLog === 'kafka'
      ? createKafkaLog({ ...toKafkaConnection(config), clientId: 'management-api', logger, metrics })
      : createPostgresLog({ database: lifecycle.own('log database', openPool(config, logger)), logger, metrics });
  lifecycle.own('event log', { stop: () => log.close() });
  return log;
}

function openPool({ databaseUrl: url }: ApiConfig, logger: Logger) {
  return createSqlDatabase({ url, logger, applicationName: 'management-api log', ...logPool });
}

const connectionOptions = { applicationName: 'millrace-management-api', preparesQueries: true };

async function consolePages(config: ApiConfig) {
  const { publicApiUrl: publicUrl, publicIngestUrl, consoleDirectory } = config;
  const directory = consoleDirectory || consoleNextTo(import.meta.url);
  const console = await serveConsole({
    ...{ directory, publicUrl },
    ingestUrl: publicIngestUrl,
    sendsMail: publicUrl !== undefined && createSecretReader(config, 'smtpUrl') !== undefined,
    signInProviders: [...createProviders(config).values()].map(({ kind, name }) => ({ kind, name })),
  });
  return { console, sharedHtml: await readSharedPage({ directory, publicUrl }) };
}

/**
 * Returns the URL of the console's folder. Files that several programs share are in a subfolder of the programs' folder
 * (packages/stack, build.ts).
 */
const consoleNextTo = (here: string) =>
  fileURLToPath(new URL(here.includes('/chunks/') ? '../console/' : './console/', here));

const secretsBy = (box: SecretBox, options: { mayBePlain: boolean }) => ({
  destinationSecrets: createDestinationSecrets(box, options),
  payloadSecrets: createPayloadSecrets(box, options),
  secretEncryption: createSecretEncryption(box, options),
});

const limitsOf = (config: ApiConfig) => ({
  requestsPerMinute: config.apiRequestsPerMinute,
  requestsPerHour: config.apiRequestsPerHour,
  wrongKeysPerMinute: config.apiWrongKeysPerMinute,
  signUpsPerMinute: config.apiSignUpsPerMinute,
  userChangesPerMinute: config.apiUserChangesPerMinute,
  signInFailures: config.apiSignInFailures,
  signInFailuresOfAccount: config.apiSignInFailuresOfAccount,
  secondFactorFailures: config.apiSecondFactorFailures,
  anonymousRequestsPerMinute: config.apiSignInQuestionsPerMinute,
  resetsPerDay: config.apiResetsPerDay,
});

function warnOfMissingKey(logger: Logger, isProduction: boolean): void {
  logger.warn(
    isProduction
      ? 'SECRETS_KEY is not set: batch exports cannot be created, because their secrets could not be encrypted'
      : 'SECRETS_KEY is not set: batch export secrets are stored unencrypted; with NODE_ENV=production, they would be rejected',
  );
}

/** Starts the mailer for invites and password resets, if a mail server is configured. */
function startMailing(
  lifecycle: Lifecycle,
  parts: Pick<ServiceHost, 'logger' | 'metrics'> & { config: ApiConfig; database: Database },
): { inviteMailing: InviteMailing; accountMailing: AccountMailing } {
  const { config, database, logger, metrics } = parts;
  const url = createSecretReader(config, 'smtpUrl');
  const mailer = url
    ? lifecycle.own('mailer', createMailer({ url, from: config.smtpFrom, timeoutMs: 10_000 }, { logger, metrics }))
    : undefined;
  if (url && !config.publicApiUrl) {
    logger.warn(
      'PUBLIC_API_URL is not set: invite and password reset emails are not sent, because they could not contain a working link',
    );
  }
  const inviteMailing = createInviteMailing({
    withConsole: config.console === 'on',
    sql: database.sql,
    logger,
    mailer,
    publicUrl: config.publicApiUrl,
    patienceMs: 2000,
    mailsPerHour: config.mailsPerOrganizationHour,
  });
  // Sending pending emails requires the mailer and the database, so it must stop first.
  lifecycle.own('pending emails', { stop: inviteMailing.drain });
  const { sql, transaction } = database;
  const accountMailing = createAccountMailing({ sql, transaction, logger, mailer, publicUrl: config.publicApiUrl });
  lifecycle.own('pending account emails', { stop: accountMailing.drain });
  return { inviteMailing, accountMailing };
}
