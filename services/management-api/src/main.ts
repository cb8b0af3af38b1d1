import { setFlagsFromString } from 'node:v8';
import {
  createDatabase,
  createSqlDatabase,
  type Database,
  type DatabaseOptions,
  sealingKeyIds,
  withDatabaseAddress,
} from '@millrace/db';
import { serve } from '@millrace/http';
import {
  createHealth,
  createLogger,
  createMetrics,
  createSecretBox,
  environment,
  type Lifecycle,
  type Metrics,
  moveMetrics,
  readConfig,
  reportCertificates,
  runService,
  secretOf,
} from '@millrace/runtime';
import { createInProcessKeyValue, createRedisKeyValue, redisConnection } from '@millrace/runtime/cache';
import { createMailer } from '@millrace/runtime/mail';
import { createSearches } from './access/searches.ts';
import { createApp } from './app.ts';
import { configSchema } from './config.ts';
import { createDestinationSecrets } from './resources/batch-exports/destinations.ts';
import { createChallengeLookup } from './resources/domains/verification.ts';
import { createPayloadSecrets } from './resources/feature-flags/payloads.ts';
import { createInviteMailing, type InviteMailing } from './resources/invites/mailing.ts';
import { passToGateway } from './sdk-requests/pass-to-gateway.ts';
import { signingSecret } from './signing-secret.ts';
import { watchDatabase } from './watch-database.ts';

/** Longer than any statement should take, shorter than what a person or a proxy waits. */
const statementTimeoutMs = 20_000;
/** Limit of a search, which may walk all rows of a project. */
const searchTimeoutMs = 10_000;

// What is in use is small (some 40 MB); left alone the heap grows to four times that before it is cleaned, as if the
// machine were ours. Cleaning earlier costs no time that can be measured.
setFlagsFromString('--heap-growing-percent=60');

const config = withDatabaseAddress(readConfig(configSchema, environment()));
const logger = createLogger('management-api', config.logLevel);
/** A slice of the connections, so that whatever is searched for leaves the others to all other requests. */
const searchConnections = Math.max(1, Math.floor(config.databasePoolSize * 0.4));

const limits = {
  requestsPerMinute: config.apiRequestsPerMinute,
  requestsPerHour: config.apiRequestsPerHour,
  wrongKeysPerMinute: config.apiWrongKeysPerMinute,
  signUpsPerMinute: config.apiSignUpsPerMinute,
  userChangesPerMinute: config.apiUserChangesPerMinute,
};

// The process is given a little longer than its requests, to close the database behind them.
await runService(logger, config.stopDelayMs + config.drainTimeoutMs + 5000, async (lifecycle) => {
  const metrics = createMetrics();
  const health = createHealth(metrics);
  reportCertificates(config, metrics);
  await moveMetrics(config, { lifecycle, health, logger });
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
  health.require('database', () => (watch.isAnswering() ? null : 'The database does not answer.'));
  const secretBox = createSecretBox(secretOf(config, 'secretsKey'));
  if (watch.isAnswering()) secretBox.requireKeys(await sealingKeyIds(database.sql));
  const isProduction = config.nodeEnv === 'production';
  if (!config.secretsKey) warnOfMissingKey(isProduction);
  const redis = redisConnection(config);
  const keyValue = lifecycle.own(
    'key-value store',
    redis ? createRedisKeyValue(redis, logger) : createInProcessKeyValue(),
  );
  const inviteMailing = startInviteMailing(lifecycle, { sql: database.sql, metrics });
  const dnsServers = config.dnsServers?.split(',').map((address) => address.trim()) ?? [];
  const app = createApp({
    sql: database.sql,
    transaction: database.transaction,
    searches: createSearches({ sql: searchDatabase.sql, connections: searchConnections }),
    lookUpChallenge: createChallengeLookup({ servers: dnsServers, timeoutMs: 2000 }),
    inviteMailing,
    destinationSecrets: createDestinationSecrets(secretBox, { mayBePlain: !isProduction }),
    payloadSecrets: createPayloadSecrets(secretBox, { mayBePlain: !isProduction }),
    keyValue,
    limits,
    maxSubscriptions: config.subscriptionsPerOrganization,
    tokenSecret: signingSecret(config),
    logger,
    metrics,
    health,
    publicUrl: config.publicApiUrl,
    trustedProxies: config.trustProxy ? config.proxyHops : 0,
    gateway: config.ingestUrl
      ? passToGateway({ url: config.ingestUrl, isBehindProxy: config.trustProxy, timeoutMs: 10_000, logger })
      : undefined,
  });
  const server = await serve(app, {
    port: config.apiPort,
    host: config.apiHost,
    drainTimeoutMs: config.drainTimeoutMs,
    stopGraceMs: config.stopDelayMs,
  });
  lifecycle.own('http server', server);
  lifecycle.own('readiness', { stop: async () => health.setStopping() });
  logger.info('listening', { port: server.port });
  process.send?.({ type: 'listening', port: server.port });
});

function connections(poolSize: number, statementTimeoutMs: number): DatabaseOptions {
  return {
    url: config.databaseUrl,
    logger,
    poolSize,
    statementTimeoutMs,
    // A little later than the server would: only a server that is gone without a word lets it come to this.
    queryTimeoutMs: statementTimeoutMs + 2000,
    applicationName: 'millrace-management-api',
    preparesQueries: true,
  };
}

function warnOfMissingKey(isProduction: boolean): void {
  logger.warn(
    isProduction
      ? 'SECRETS_KEY is not set: batch exports, which have secrets to be encrypted, cannot be made'
      : 'SECRETS_KEY is not set: secrets of batch exports are stored unencrypted; with NODE_ENV=production none would be',
  );
}

/** Mails invites, where there is a mail server. */
function startInviteMailing(
  lifecycle: Lifecycle,
  { sql, metrics }: { sql: Database['sql']; metrics: Metrics },
): InviteMailing {
  const url = secretOf(config, 'smtpUrl');
  const mailer = url
    ? lifecycle.own('mailer', createMailer({ url, from: config.smtpFrom, timeoutMs: 10_000 }, { logger, metrics }))
    : undefined;
  if (url && !config.publicApiUrl) {
    logger.warn('invites are not mailed: PUBLIC_API_URL is not set, so that their links would lead nowhere');
  }
  const inviteMailing = createInviteMailing({
    sql,
    logger,
    mailer,
    publicUrl: config.publicApiUrl,
    patienceMs: 2000,
    mailsPerHour: config.mailsPerOrganizationHour,
  });
  // Stopped before the mailer and the database: what is on its way still uses both.
  lifecycle.own('mails on their way', { stop: inviteMailing.settle });
  return inviteMailing;
}
