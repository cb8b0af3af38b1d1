import { createDatabase } from '@millrace/db';
import { serve } from '@millrace/http';
import { createHealth, createLogger, createMetrics, environment, readConfig, runService } from '@millrace/runtime';
import { createApp } from './app.ts';
import { configSchema } from './config.ts';
import { watchDatabase } from './watch-database.ts';

const config = readConfig(configSchema, environment());
const logger = createLogger('management-api', config.logLevel);

await runService(logger, config.drainTimeoutMs + 5000, async (lifecycle) => {
  const metrics = createMetrics();
  const health = createHealth(metrics);
  const database = lifecycle.own(
    'database',
    createDatabase({
      url: config.databaseUrl,
      logger,
      poolSize: config.databasePoolSize,
      applicationName: 'millrace-management-api',
    }),
  );
  lifecycle.own('database watch', await watchDatabase(database.sql, 2000));
  health.require('database', () => (database.isHealthy() ? null : 'The database does not answer.'));
  const app = createApp({
    sql: database.sql,
    logger,
    metrics,
    health,
    publicUrl: config.publicApiUrl,
    trustProxy: config.trustProxy,
  });
  const server = await serve(app, {
    port: config.apiPort,
    host: config.apiHost,
    drainTimeoutMs: config.drainTimeoutMs,
  });
  lifecycle.own('http server', server);
  lifecycle.own('readiness', { stop: async () => health.setStopping() });
  logger.info('listening', { port: server.port });
  process.send?.({ type: 'listening', port: server.port });
});
