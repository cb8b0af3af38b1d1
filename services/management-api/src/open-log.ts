import { createSqlDatabase } from '@millrace/db';
import { createKafkaLog, createPostgresLog, type EventLog, kafkaConnection } from '@millrace/event-log';
import type { Lifecycle, Logger, Metrics } from '@millrace/runtime';
import type { ApiConfig } from './config.ts';

const clientId = 'management-api';
/** The log on PostgreSQL is read through connections of its own, so that readers and requests do not wait for each other. */
const logPool = { poolSize: 3, connectTimeoutMs: 2000, statementTimeoutMs: 5000, queryTimeoutMs: 6000 };

/** The log as the event consumer knows it; null where nobody has said which it is. */
export function openLog(
  config: ApiConfig,
  { lifecycle, logger, metrics }: { lifecycle: Lifecycle; logger: Logger; metrics: Metrics },
): EventLog | null {
  if (config.eventLog === undefined) return null;
  const log =
    config.eventLog === 'kafka'
      ? createKafkaLog({ ...kafkaConnection(config), clientId, logger, metrics })
      : createPostgresLog({ database: lifecycle.own('log database', openPool(config, logger)), logger, metrics });
  lifecycle.own('event log', { stop: () => log.close() });
  return log;
}

function openPool({ databaseUrl: url }: ApiConfig, logger: Logger) {
  return createSqlDatabase({ url, logger, applicationName: `${clientId} log`, ...logPool });
}
