import { setFlagsFromString } from 'node:v8';
import { consumerGroup, outputGroup, type TopicNames, topicNames } from '@millrace/contracts';
import { createSqlDatabase, type ProjectChanges, type SqlDatabase, watchProjectChanges } from '@millrace/db/sql';
import {
  createKafkaLog,
  createPostgresLog,
  drainFallback,
  type EventLog,
  fallbackTopic,
  kafkaConnection,
  usesFallback,
} from '@millrace/event-log';
import {
  createHealth,
  createLogger,
  createMetrics,
  environment,
  type Logger,
  type Metrics,
  moveMetrics,
  readConfig,
  runService,
  startHealthServer,
} from '@millrace/runtime';
import { type ConsumerConfig, configuredLanes, consumerConfigSchema } from './config.ts';
import { consumeLane } from './consume-lane.ts';
import { createConsumeMetrics } from './consume-metrics.ts';
import { createCookielessSalts } from './cookieless/salts.ts';
import { createDeadLetterLog } from './dead-letters/dead-letter-log.ts';
import { createDefinitions } from './definitions/definitions.ts';
import { createEventPartitions } from './events/event-partitions.ts';
import { describeFailure } from './failures/describe-failure.ts';
import { createFlagCalls } from './flag-calls/flag-calls.ts';
import { drainFormerLog, type FormerLogReader } from './former-log/drain-former-log.ts';
import { reportFormerLogs } from './former-log/report-former-logs.ts';
import { createProjectResolver } from './intake/resolve-projects.ts';
import { createKnownIds } from './ledger/known-ids.ts';
import { createTurns } from './ledger/turns.ts';
import { createLiveLoad } from './live-load.ts';
import { createFreeLocks } from './locks/free-locks.ts';
import { publishLane } from './output/publish-lane.ts';
import { createPublishMetrics } from './output/publish-metrics.ts';
import type { ProcessBatchDeps } from './process-batch.ts';
import { startLanes } from './start-lanes.ts';
import { createStepTimer } from './step-timer.ts';
import { createWarningThrottle } from './warnings/throttle-warnings.ts';

// By default the heap grows to four times what is in use before it is cleaned, as if the machine were ours alone. At
// 145 the consumer gets a few per cent more events done, and with a thousand projects takes a little more than 200 MB.
setFlagsFromString('--heap-growing-percent=130');

const service = 'event-consumer';
/** Beside the transactions: projects, partitions, start offsets. */
const spareConnections = 2;
/** The embedded log writes and reads through a pool of its own, so that batches cannot starve it. */
const logPool = {
  poolSize: 6,
  connectTimeoutMs: 2000,
  statementTimeoutMs: 5000,
  queryTimeoutMs: 6000,
  idleInTransactionTimeoutMs: 5000,
};
/**
 * A process that was stopped in the middle of a batch loses that batch after `silentMs`. Nobody waits for its locks
 * meanwhile: its own partitions go on within fifteen seconds, those of others at once.
 */
const silentMs = 10_000;
const timeouts = {
  statementTimeoutMs: 20_000,
  queryTimeoutMs: 25_000,
  lockTimeoutMs: 2000,
  idleInTransactionTimeoutMs: silentMs,
};

const config = readConfig(consumerConfigSchema, environment());
const logger = createLogger(service, config.logLevel);

await runService(logger, config.drainTimeoutMs, async (lifecycle, fail) => {
  const lanes = configuredLanes(config);
  const publishedLanes = config.publishProcessed === 'on' ? lanes.map(({ lane }) => lane) : [];
  const metrics = createMetrics();
  const health = createHealth(metrics);
  await moveMetrics(config, { lifecycle, health, logger });
  const topics = topicNames(config.topicPrefix);
  const database = lifecycle.own(
    'database',
    createSqlDatabase({
      url: config.databaseUrl,
      logger,
      applicationName: service,
      preparesLookups: true,
      poolSize:
        lanes.reduce((sum, { partitionConcurrency }) => sum + partitionConcurrency, spareConnections) +
        publishedLanes.length,
      ...timeouts,
    }),
  );
  const changes = lifecycle.own('project changes', watchProjectChanges({ database, logger, metrics }));
  const { log, pool } = openLog(config, logger, metrics);
  if (pool !== undefined) lifecycle.own('log database', pool);
  lifecycle.own('event log', { stop: () => log.close() });
  if (usesFallback(config)) {
    const { topicPrefix, topicPartitions: partitions } = config;
    const drainPool = lifecycle.own('fallback database', openLogPool(config, logger));
    const topic = fallbackTopic(topicPrefix);
    const drain = { kafka: log, database: drainPool, topic, partitions, logger, metrics, onFatal: fail };
    lifecycle.own('fallback', drainFallback(drain));
  }
  const server = lifecycle.own(
    'health server',
    await startHealthServer(health, { port: config.healthPort, host: config.healthHost }),
  );

  // Stopped after the lanes, so that it writes what their last batches showed.
  const definitions = lifecycle.own('definitions', createDefinitions({ database, logger, now: Date.now }));
  const flagCalls = lifecycle.own('calls of flags', createFlagCalls({ database, logger, now: Date.now }));
  const batchDeps = { ...createProcessDeps({ database, changes, log, topics, metrics }), definitions, flagCalls };
  const metricsOf = createConsumeMetrics(metrics);
  const published = createPublishMetrics(metrics);
  const liveLoad = createLiveLoad();
  const freeLocks = createFreeLocks({ sql: database.sql, logger, silentMs, now: Date.now });
  const laneDeps = { ...config, database, topics, logger, onFatal: fail };
  /**
   * Everything that reads lanes from a log. Processed events are always published to the chosen log, whichever one is
   * read.
   */
  const readersOf = (from: Pick<EventLog, 'consume'>): FormerLogReader[] => [
    ...lanes.map((lane) => ({
      ...{ topic: topics[lane.lane], group: consumerGroup(lane.lane, config.topicPrefix) },
      join: () => consumeLane(lane, { ...laneDeps, log: from, process: batchDeps, metricsOf, liveLoad, freeLocks }),
    })),
    ...publishedLanes.map((lane) => ({
      ...{ topic: topics[lane], group: outputGroup(lane, config.topicPrefix) },
      join: () =>
        publishLane(lane, {
          ...{ ...laneDeps, log: { consume: from.consume, append: log.append } },
          ...{ projects: batchDeps.projects, published },
        }),
    })),
  ];
  const readers = readersOf(log);
  reportFormerLogs({ database, log: config.eventLog === 'kafka' ? log : null, readers, logger }).catch(
    (error: unknown) => logger.debug('logs that were left could not be looked for', describeFailure(error)),
  );
  let before: Promise<void> | undefined;
  if (config.eventLog === 'kafka') {
    const former = openPostgresLog(config, logger);
    lifecycle.own('former log database', former.pool);
    lifecycle.own('former log', { stop: () => former.log.close() });
    const drain = drainFormerLog({ database, readers: readersOf(former.log), logger, metrics });
    lifecycle.own('former log drain', drain);
    before = drain.begun();
  }
  const consuming = startLanes({
    ...{ log, topics, topicPartitions: config.topicPartitions, logger },
    ...(before === undefined ? {} : { before }),
    joins: readers.map(({ join }) => join),
  });
  lifecycle.own('lanes', {
    stop() {
      health.setStopping();
      return consuming.stop();
    },
  });

  health.require('lanes', () => (consuming.isReady() ? null : 'Not all lanes have joined their consumer groups.'));
  health.require('database', () => (database.isHealthy() ? null : 'PostgreSQL does not answer.'));
  health.require('event log', () => (log.isHealthy() ? null : 'The event log does not answer.'));
  logger.info('listening', { port: server.port, lanes: lanes.map(({ lane }) => lane) });
  process.send?.({ type: 'listening', port: server.port });
});

interface ProcessParts {
  database: SqlDatabase;
  changes: ProjectChanges;
  log: EventLog;
  topics: TopicNames;
  metrics: Metrics;
}

function createProcessDeps(parts: ProcessParts): Omit<ProcessBatchDeps, 'definitions' | 'flagCalls'> {
  const { database, changes, log, topics, metrics } = parts;
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
    step: createStepTimer(metrics),
    now: Date.now,
  };
}

function openLog(config: ConsumerConfig, logger: Logger, metrics: Metrics): { log: EventLog; pool?: SqlDatabase } {
  if (config.eventLog === 'kafka') {
    const { kafkaSessionTimeoutMs: sessionTimeoutMs } = config;
    return {
      log: createKafkaLog({ ...kafkaConnection(config), clientId: service, sessionTimeoutMs, logger, metrics }),
    };
  }
  return openPostgresLog(config, logger, metrics);
}

function openPostgresLog(
  config: ConsumerConfig,
  logger: Logger,
  metrics?: Metrics,
): { log: EventLog; pool: SqlDatabase } {
  const pool = openLogPool(config, logger);
  // With publishing switched off nobody reads for this group, so no records must be kept for it.
  const retiredGroups =
    config.publishProcessed === 'on'
      ? []
      : configuredLanes(config).map(({ lane }) => outputGroup(lane, config.topicPrefix));
  const more = metrics === undefined ? {} : { metrics };
  return { log: createPostgresLog({ database: pool, logger, retiredGroups, ...more }), pool };
}

function openLogPool({ databaseUrl: url }: ConsumerConfig, logger: Logger): SqlDatabase {
  return createSqlDatabase({ url, logger, applicationName: `${service} log`, ...logPool });
}
