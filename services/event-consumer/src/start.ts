// Starts the event consumer: opens its connections and reads the topics. On shutdown, stops everything in reverse
// order.

import { type TopicNames, topicNames } from '@millrace/contracts';
import {
  createSqlDatabase,
  type ProjectChanges,
  type SqlDatabase,
  watchProjectChanges,
  withDatabaseAddress,
} from '@millrace/db/sql';
import { drainFallback, type EventLog, fallbackTopic, isFallbackEnabled } from '@millrace/event-log';
import {
  type Lifecycle,
  type Logger,
  type Metrics,
  readConfig,
  type Service,
  type ServiceHost,
  startComponents,
} from '@millrace/runtime';
import { createTracing, isTracingEnabled } from '@millrace/runtime/tracing';
import { type ConsumerConfig, configuredTopics, consumerConfigSchema } from './config.ts';
import {
  createLiveLoadTracker,
  createTopicReaders,
  publishedTopics,
  startConsuming,
  type TopicReaderDeps,
} from './consume-topic.ts';
import { createCookielessSalts } from './cookieless/salts.ts';
import { createDeadLetterLog } from './dead-letters.ts';
import { createDefinitionRecorder } from './definitions/definitions.ts';
import { createFlagCallRecorder } from './definitions/flag-calls.ts';
import { createEventPartitions } from './events/partitions.ts';
import { describeFailure } from './failures.ts';
import { drainFormerLog, reportFormerLogs } from './former-log.ts';
import { createFrozenTransactionEnder } from './frozen-session-store.ts';
import { createProjectResolver } from './intake/projects.ts';
import { createKnownIds } from './ledger/touched.ts';
import { createTurns } from './ledger/turns.ts';
import { createConsumeMetrics, createPublishMetrics, createStepTimer } from './metrics.ts';
import { openLog, openLogPool, openPostgresLog } from './open-log.ts';
import type { ProcessBatchDeps } from './process-batch.ts';
import { createWarningThrottle } from './warnings/warnings.ts';

const service = 'event-consumer';
/** The number of connections for purposes other than batch transactions: for projects, partitions and start offsets. */
const spareConnections = 2;
/**
 * If a process freezes within a batch, other batches wait at most this many milliseconds for its locks. Then the frozen
 * process loses the batch. Its partitions continue within fifteen seconds, and other partitions immediately.
 */
const silentMs = 10_000;
const timeouts = {
  statementTimeoutMs: 20_000,
  queryTimeoutMs: 25_000,
  lockTimeoutMs: 2000,
  idleInTransactionTimeoutMs: silentMs,
};

export const eventConsumer: Service<ConsumerConfig> = {
  name: service,
  readConfig: (env) => withDatabaseAddress(readConfig(consumerConfigSchema, env)),
  stopWithinMs: ({ drainTimeoutMs }) => drainTimeoutMs,
  isTraced: isTracingEnabled,
  start: (config, host) => startComponents(host.logger, (lifecycle) => begin(config, host, lifecycle)),
};

async function begin(config: ConsumerConfig, host: ServiceHost, lifecycle: Lifecycle) {
  const { logger, metrics, health, fail: onFatal } = host;
  const tracing = await createTracing(service, config, { logger, metrics });
  if (tracing !== null) lifecycle.own('tracing', tracing);
  const topics = topicNames(config.topicPrefix);
  const database = lifecycle.own('database', openDatabase(config, logger));
  const changes = lifecycle.own('project changes', watchProjectChanges({ database, logger, metrics }));
  const { log, pool } = openLog(config, logger, metrics);
  if (pool !== undefined) lifecycle.own('log database', pool);
  lifecycle.own('event log', { stop: () => log.close() });
  if (isFallbackEnabled(config)) startFallbackDrain(lifecycle, { config, kafka: log, logger, metrics, onFatal });
  // Stops after the readers, so that the definitions in their last batches are written.
  const definitions = lifecycle.own('definitions', createDefinitionRecorder({ database, logger, now: Date.now }));
  const flagCalls = lifecycle.own('calls of flags', createFlagCallRecorder({ database, logger, now: Date.now }));
  const readerDeps: TopicReaderDeps = {
    ...config,
    database,
    topics,
    logger,
    onFatal,
    tracing,
    process: {
      ...createProcessDeps({ config, database, changes, log, topics, logger, metrics }),
      definitions,
      flagCalls,
    },
    metricsOf: createConsumeMetrics(metrics),
    published: createPublishMetrics(metrics),
    liveLoad: createLiveLoadTracker(),
    releaseLocks: createFrozenTransactionEnder({ sql: database.sql, logger, silentMs, now: Date.now }),
  };
  changes.subscribe((change) => {
    // After an interruption, clear the caches: the database may have been restored, or it may be a standby without the
    // latest data.
    if (change === null) for (const one of [definitions, flagCalls, readerDeps.process.salts]) one.forgetAll();
  });
  const readers = createTopicReaders(config, { read: log, chosen: log }, readerDeps);
  reportFormerLogs({ database, log: config.eventLog === 'kafka' ? log : null, readers, logger }).catch(
    (error: unknown) =>
      logger.debug('could not check for event logs that were configured earlier', describeFailure(error)),
  );
  const before =
    config.eventLog === 'kafka' ? startFormerLogDrain(lifecycle, { config, chosen: log, readerDeps, metrics }) : null;
  const consuming = startConsuming({
    log,
    topics,
    topicPartitions: config.topicPartitions,
    logger,
    ...(before === null ? {} : { before }),
    joins: readers.map(({ join }) => join),
  });
  lifecycle.own('consumers', {
    stop() {
      health.setStopping();
      return consuming.stop();
    },
  });

  health.addReadinessCheck('consumers', () =>
    consuming.isReady() ? null : 'Not all topics have a consumer yet. The consumers are joining their groups.',
  );
  health.addReadinessCheck('database', () => (database.isHealthy() ? null : 'PostgreSQL does not respond.'));
  health.addReadinessCheck('event log', () => (log.isHealthy() ? null : 'The event log does not respond.'));
  return { topics: configuredTopics(config).map(({ topic }) => topic) };
}

function openDatabase(config: ConsumerConfig, logger: Logger): SqlDatabase {
  const concurrency = configuredTopics(config).reduce((sum, { partitionConcurrency }) => sum + partitionConcurrency, 0);
  return createSqlDatabase({
    url: config.databaseUrl,
    logger,
    applicationName: service,
    preparesLookups: true,
    poolSize: concurrency + publishedTopics(config).length + spareConnections,
    ...timeouts,
  });
}

/** Copies to Kafka the events that gateways stored in PostgreSQL while Kafka was unavailable. */
function startFallbackDrain(
  lifecycle: Lifecycle,
  parts: {
    config: ConsumerConfig;
    kafka: EventLog;
    logger: Logger;
    metrics: Metrics;
    onFatal: (error: Error) => void;
  },
): void {
  const { config, kafka, logger, metrics, onFatal } = parts;
  const database = lifecycle.own('fallback database', openLogPool(config, logger));
  const { topicPrefix, topicPartitions: partitions } = config;
  const drain = { kafka, database, topic: fallbackTopic(topicPrefix), partitions, logger, metrics, onFatal };
  lifecycle.own('fallback', drainFallback(drain));
}

/**
 * Processes the records that are left in the PostgreSQL log. Returns a promise that the readers of the current log must
 * wait for.
 */
function startFormerLogDrain(
  lifecycle: Lifecycle,
  parts: { config: ConsumerConfig; chosen: EventLog; readerDeps: TopicReaderDeps; metrics: Metrics },
): Promise<void> {
  const { config, chosen, readerDeps, metrics } = parts;
  const { logger } = readerDeps;
  const former = openPostgresLog(config, logger);
  lifecycle.own('former log database', former.pool);
  lifecycle.own('former log', { stop: () => former.log.close() });
  const readers = createTopicReaders(config, { read: former.log, chosen }, readerDeps);
  const drain = drainFormerLog({ database: readerDeps.database, readers, logger, metrics });
  lifecycle.own('former log drain', drain);
  return drain.begun();
}

interface ProcessParts {
  config: ConsumerConfig;
  logger: Logger;
  database: SqlDatabase;
  changes: ProjectChanges;
  log: EventLog;
  topics: TopicNames;
  metrics: Metrics;
}

function createProcessDeps(parts: ProcessParts): Omit<ProcessBatchDeps, 'definitions' | 'flagCalls'> {
  const { config, database, changes, log, topics, logger, metrics } = parts;
  return {
    database,
    salts: createCookielessSalts(database.sql),
    projects: createProjectResolver({
      sql: database.sql,
      changes,
      eventRetentionDays: config.eventRetentionDays,
    }),
    partitions: createEventPartitions(database),
    deadLetters: createDeadLetterLog({ log, topic: topics.deadLetter, logger, now: Date.now }),
    turns: createTurns(),
    knownIds: createKnownIds(),
    throttle: createWarningThrottle(Date.now),
    startStepTimer: createStepTimer(metrics),
    now: Date.now,
  };
}
