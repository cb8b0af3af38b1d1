import { createDatabase, sealingKeyIds, withDatabaseAddress } from '@millrace/db';
import {
  createHealth,
  createLogger,
  createMetrics,
  createSecretBox,
  environment,
  moveMetrics,
  readConfig,
  reportCertificates,
  runService,
  secretOf,
  startHealthServer,
} from '@millrace/runtime';
import { createMailer } from '@millrace/runtime/mail';
import { configSchema } from './config.ts';
import { startWorker } from './worker.ts';

const service = 'delivery-worker';
const config = withDatabaseAddress(readConfig(configSchema, environment()));
const logger = createLogger(service, config.logLevel);

// The process is given a little longer than its work, to close the database behind it.
await runService(logger, config.drainTimeoutMs + 3000, async (lifecycle) => {
  const metrics = createMetrics();
  const health = createHealth(metrics);
  reportCertificates(config, metrics);
  await moveMetrics(config, { lifecycle, health, logger });
  const database = lifecycle.own(
    'database',
    createDatabase({
      url: config.databaseUrl,
      logger,
      poolSize: config.databasePoolSize,
      // Exports walk through large tables; cleaning up deletes in portions.
      statementTimeoutMs: 300_000,
      applicationName: `millrace-${service}`,
    }),
  );
  const { smtpFrom: from, smtpTimeoutMs: timeoutMs } = config;
  const url = secretOf(config, 'smtpUrl');
  const mailer = url === undefined ? null : createMailer({ url, from, timeoutMs }, { logger, metrics });
  if (mailer) lifecycle.own('mailer', mailer);
  else logger.info('no mail server: reports by e-mail will fail until SMTP_URL is set');
  const { healthPort: port, healthHost: host } = config;
  const server = lifecycle.own('health server', await startHealthServer(health, { port, host }));
  const { publicAppUrl, allowPrivateDestinations: mayBePrivate, pollIntervalMs } = config;
  const { keepOutcomesDays, keepDeletedIdsDays, keepWarningsDays, keepActivityDays, eventRetentionDays } = config;
  const { mailsPerOrganizationHour: mailsPerHour, recountCohortsHours } = config;
  // An export keeps a connection as long as it takes, and needs others for a moment.
  const exportsAtOnce = Math.max(1, Math.min(4, config.databasePoolSize - 4));
  const secretBox = createSecretBox(secretOf(config, 'secretsKey'));
  secretBox.requireKeys(await sealingKeyIds(database.sql));
  const worker = startWorker(
    { database, mailer, logger, metrics, secretBox },
    {
      publicAppUrl,
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
    },
  );
  lifecycle.own('worker', {
    stop() {
      health.setStopping();
      return worker.stop();
    },
  });
  health.require('database', () => (database.isHealthy() ? null : 'PostgreSQL does not answer.'));
  logger.info('listening', { port: server.port });
  process.send?.({ type: 'listening', port: server.port });
});
