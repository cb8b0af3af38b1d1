// Opens the event log that the settings specify: Kafka or PostgreSQL.

import { publisherGroup } from '@millrace/contracts';
import { createSqlDatabase, type SqlDatabase } from '@millrace/db/sql';
import { createKafkaLog, createPostgresLog, type EventLog, toKafkaConnection } from '@millrace/event-log';
import type { Logger, Metrics } from '@millrace/runtime';
import { type ConsumerConfig, configuredTopics } from './config.ts';

const clientId = 'event-consumer';
/** The PostgreSQL log uses a separate pool, because the batches could use all connections of a shared pool. */
const logPool = {
  poolSize: 6,
  connectTimeoutMs: 2000,
  statementTimeoutMs: 5000,
  queryTimeoutMs: 6000,
  idleInTransactionTimeoutMs: 5000,
};

export function openLog(
  config: ConsumerConfig,
  logger: Logger,
  metrics: Metrics,
): { log: EventLog; pool?: SqlDatabase } {
  if (config.eventLog === 'kafka') {
    const { kafkaSessionTimeoutMs: sessionTimeoutMs } = config;
    return {
      log: createKafkaLog({ ...toKafkaConnection(config), clientId, sessionTimeoutMs, logger, metrics }),
    };
  }
  return openPostgresLog(config, logger, metrics);
}

export function openPostgresLog(
  config: ConsumerConfig,
  logger: Logger,
  metrics?: Metrics,
): { log: EventLog; pool: SqlDatabase } {
  const pool = openLogPool(config, logger);
  // If publishing is disabled, list the publishing groups as retired, so that the log keeps no records for them.
  const retiredGroups =
    config.publishProcessed === 'on'
      ? []
      : configuredTopics(config).map(({ topic }) => publisherGroup(topic, config.topicPrefix));
  const more = metrics === undefined ? {} : { metrics };
  return { log: createPostgresLog({ database: pool, logger, retiredGroups, ...more }), pool };
}

export function openLogPool({ databaseUrl: url }: ConsumerConfig, logger: Logger): SqlDatabase {
  return createSqlDatabase({ url, logger, applicationName: `${clientId} log`, ...logPool });
}
