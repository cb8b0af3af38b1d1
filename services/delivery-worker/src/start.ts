// Starts the delivery worker. On shutdown, closes its connections in reverse order.

import { createChallengeLookup } from '@millrace/accounts';
import { createDatabase, createReadPool, readSealingKeyIds, withDatabaseAddress } from '@millrace/db';
import { createSqlParser, openEventStore } from '@millrace/insights';
import {
  createSecretBox,
  createSecretReader,
  type Lifecycle,
  readConfig,
  type Service,
  type ServiceHost,
  startComponents,
} from '@millrace/runtime';
import { createMailer } from '@millrace/runtime/mail';
import { maxStatementMs } from './cohorts/count.ts';
import { configSchema } from './config.ts';
import { maxQueryMs, reportsAtOnce } from './subscriptions/create-reports.ts';
import { startWorker } from './worker.ts';

const name = 'delivery-worker';
const readSettings = (env: Record<string, string | undefined>) => withDatabaseAddress(readConfig(configSchema, env));
type WorkerConfig = ReturnType<typeof readSettings>;

export const deliveryWorker: Service<WorkerConfig> = {
  name,
  readConfig: readSettings,
  // Allow time to close the database after all work has ended.
  stopWithinMs: ({ drainTimeoutMs }) => drainTimeoutMs + 3000,
  start: (config, host) => startComponents(host.logger, (lifecycle) => begin(config, host, lifecycle)),
};

async function begin(config: WorkerConfig, { logger, metrics, health }: ServiceHost, lifecycle: Lifecycle) {
  const database = lifecycle.own(
    'database',
    createDatabase({
      url: config.databaseUrl,
      logger,
      poolSize: config.databasePoolSize,
      // Exports scan large tables, and cleanups delete many rows, so statements need a long time limit.
      statementTimeoutMs: 300_000,
      applicationName: `millrace-${name}`,
    }),
  );
  const { smtpFrom: from, smtpTimeoutMs: timeoutMs } = config;
  const url = createSecretReader(config, 'smtpUrl');
  const mailer = url === undefined ? null : createMailer({ url, from, timeoutMs }, { logger, metrics });
  if (mailer) lifecycle.own('mailer', mailer);
  else logger.info('SMTP_URL is not set: reports cannot be sent by email');
  // Read-only connections, on which each query has its own time limit.
  const reader = lifecycle.own(
    'connections for reports',
    createReadPool({
      url: config.databaseUrl,
      logger,
      poolSize: reportsAtOnce,
      statementTimeoutMs: maxQueryMs,
      applicationName: `millrace-${name} reports`,
    }),
  );
  const cohortReader = lifecycle.own(
    'connection for cohorts',
    createReadPool({
      url: config.databaseUrl,
      logger,
      poolSize: 1,
      statementTimeoutMs: maxStatementMs,
      applicationName: `millrace-${name} cohorts`,
    }),
  );
  const store = lifecycle.own('event store', openEventStore(config, { reader, maxMs: maxQueryMs }));
  const parser = lifecycle.own('SQL parser', createSqlParser());
  const { databaseUrl } = config;
  const ownUrl = typeof databaseUrl === 'function' ? databaseUrl() : databaseUrl;
  const postgresUrl = createSecretReader(config, 'clickhousePostgresUrl')?.() ?? ownUrl;
  const keepDays = config.postgresEventDays;
  const copying = store.clickhouse && { client: store.clickhouse, postgres: { url: postgresUrl }, keepDays };
  const { publicAppUrl, publicApiUrl, allowPrivateDestinations: mayBePrivate, pollIntervalMs } = config;
  const { keepOutcomesDays, keepDeletedIdsDays, keepWarningsDays, keepActivityDays, eventRetentionDays } = config;
  const { mailsPerOrganizationHour: mailsPerHour, recountCohortsHours } = config;
  // A running export occupies one connection the whole time, and more for short periods.
  const exportsAtOnce = Math.max(1, Math.min(4, config.databasePoolSize - 4));
  const secretBox = createSecretBox(createSecretReader(config, 'secretsKey'));
  secretBox.requireKeys(await readSealingKeyIds(database.sql));
  const worker = startWorker(
    { database, reader: cohortReader, mailer, events: store.events, parser, copying, logger, metrics, secretBox },
    {
      publicAppUrl,
      publicApiUrl,
      mayBePrivate,
      pollIntervalMs,
      keepOutcomesDays,
      keepDeletedIdsDays,
      keepWarningsDays,
      keepActivityDays,
      eventRetentionDays,
      mailsPerHour,
      recountCohortsHours,
      exportsAtOnce,
      lookUpChallenge: createChallengeLookup({
        servers: config.dnsServers?.split(',').map((address) => address.trim()) ?? [],
        timeoutMs: 2000,
      }),
    },
  );
  lifecycle.own('worker', {
    stop() {
      health.setStopping();
      return worker.stop();
    },
  });
  health.addReadinessCheck('database', () => (database.isHealthy() ? null : 'PostgreSQL does not respond.'));
  return {};
}
