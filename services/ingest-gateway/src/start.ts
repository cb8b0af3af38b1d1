import { fileURLToPath } from 'node:url';
import { type TopicNames, topicNames } from '@millrace/contracts';
import {
  createSqlDatabase,
  type ProjectChanges,
  type Sql,
  type SqlDatabase,
  watchProjectChanges,
  withDatabaseAddress,
} from '@millrace/db/sql';
import {
  createFallbackLog,
  createKafkaLog,
  createPostgresLog,
  type EventLog,
  fallbackTopic,
  isFallbackEnabled,
  toKafkaConnection,
  withAppendBreaker,
} from '@millrace/event-log';
import {
  type Health,
  type Lifecycle,
  type Logger,
  listen,
  type Metrics,
  readConfig,
  type Service,
  type ServiceHost,
  type Stoppable,
  startComponents,
} from '@millrace/runtime';
import { createInProcessStore, createRedisStore, type KeyValueStore, toRedisConnection } from '@millrace/runtime/cache';
import { createTracing, isTracingEnabled } from '@millrace/runtime/tracing';
import { createProjectKeys } from './access/project-keys.ts';
import { createGateway, type IngestDependencies } from './app.ts';
import { type BrowserLibrary, readBrowserLibrary } from './config/library.ts';
import { type GatewayConfig, gatewayConfigSchema, parseGatewayRoles } from './config.ts';
import { awaitFirstResponse, definitionConnections } from './flag-data.ts';
import { createFlagServices, type FlagServices } from './flags/dependencies.ts';
import { createTrafficControl } from './limits/traffic-control.ts';

const service = 'ingest-gateway';
/**
 * The pool for looking up project keys. Requests stop waiting after the time limits in store-limits.ts. The query
 * itself is canceled a little later.
 */
const lookupPool = { poolSize: 4, connectTimeoutMs: 3000, statementTimeoutMs: 3000, queryTimeoutMs: 3500 };
/**
 * The pool for flag requests. Requests stop waiting after the time limits in store-limits.ts. PostgreSQL cancels the
 * statement a little later.
 */
const flagPool = { connectTimeoutMs: 300, statementTimeoutMs: 500, queryTimeoutMs: 3500, preparesQueries: true };
/**
 * The pool for flag definitions, which take longer to load for a large project. Until they are loaded, requests use the
 * previous definitions.
 */
const definitionPool = {
  connectTimeoutMs: 2000,
  statementTimeoutMs: 3000,
  queryTimeoutMs: 3500,
  preparesQueries: true,
};
/** The pool for the PostgreSQL log, which has its own time limits. */
const logPool = {
  poolSize: 6,
  connectTimeoutMs: 2000,
  statementTimeoutMs: 5000,
  queryTimeoutMs: 6000,
  // A process that was suspended during an append must not block the appends of other processes.
  idleInTransactionTimeoutMs: 5000,
};
/**
 * How long the gateway waits for the log before it accepts requests, in milliseconds. Without the log, it responds with
 * 503, which is more useful to clients than a refused connection.
 */
const waitForLogMs = 15_000;

export const ingestGateway: Service<GatewayConfig> = {
  name: service,
  readConfig: (env) => withDatabaseAddress(readConfig(gatewayConfigSchema, env)),
  stopWithinMs: ({ drainTimeoutMs }) => drainTimeoutMs,
  isTraced: isTracingEnabled,
  start: (config, host) => startComponents(host.logger, (lifecycle) => begin(config, host, lifecycle)),
};

async function begin(config: GatewayConfig, host: ServiceHost, lifecycle: Lifecycle) {
  const { logger, metrics, health } = host;
  const tracing = await createTracing(service, config, { logger, metrics });
  if (tracing !== null) lifecycle.own('tracing', tracing);
  const database = lifecycle.own(
    'database',
    createSqlDatabase({ url: config.databaseUrl, logger, applicationName: service, ...lookupPool }),
  );
  const changes = lifecycle.own('project changes', watchProjectChanges({ database, logger, metrics }));
  const redis = toRedisConnection(config);
  const cache = lifecycle.own('cache', redis === undefined ? createInProcessStore() : createRedisStore(redis, logger));
  const projectKeys = createProjectKeys({ sql: database.sql, changes, logger, metrics });
  const roles = parseGatewayRoles(config);
  const gateway = createGateway({
    projectKeys,
    ingest: roles.has('ingest')
      ? await startIngest({ config, sql: database.sql, cache, changes, health, logger, metrics, lifecycle })
      : null,
    flags: startFlags({ config, cache, changes, health, logger, metrics, lifecycle, isAlone: !roles.has('ingest') }),
    servesFlags: roles.has('flags'),
    library: await readLibrary(config, logger),
    config,
    logger,
    metrics,
    health,
    tracing,
  });
  const { ingestPort: port, ingestHost } = config;
  const taken = await listen(gateway.server, { port, host: ingestHost, setting: 'INGEST_PORT' });
  lifecycle.own('gateway', {
    async stop() {
      health.setStopping();
      await gateway.stop();
    },
  });
  return { port: taken };
}

interface Started {
  config: GatewayConfig;
  logger: Logger;
  cache: KeyValueStore;
  changes: ProjectChanges;
  metrics: Metrics;
  lifecycle: Lifecycle;
}

async function startIngest(started: Started & { sql: Sql; health: Health }): Promise<IngestDependencies> {
  const { config, sql, cache, changes, health, logger, metrics, lifecycle } = started;
  const { log: opened, pool } = openLog(config, logger, metrics);
  const log = withAppendBreaker(opened, { logger, metrics });
  if (pool !== undefined) lifecycle.own('log database', pool);
  lifecycle.own('event log', { stop: () => log.close() });
  const topics = topicNames(config.topicPrefix);
  const creation = lifecycle.own('topics', ensureTopics(log, { topics, partitions: config.topicPartitions, logger }));
  const startedAt = performance.now();
  health.addReadinessCheck('event log', () => {
    if (creation.isDone() || performance.now() - startedAt > waitForLogMs) return null;
    return 'The event log has not responded yet.';
  });
  const dependencies = { cache, sql, changes, log, topics, config, logger, metrics };
  const traffic = lifecycle.own('limits', await createTrafficControl(dependencies));
  return { log, topics, traffic, bodyProgram: bodyProgram(import.meta.url) };
}

function startFlags(started: Started & { health: Health; isAlone: boolean }): FlagServices {
  const { config, cache, changes, health, logger, metrics, lifecycle, isAlone } = started;
  const server = { url: config.databaseUrl, logger, applicationName: `${service} flags` };
  const requests = createSqlDatabase({ ...server, ...flagPool, poolSize: config.flagDatabaseConnections });
  const definitions = createSqlDatabase({ ...server, ...definitionPool, poolSize: definitionConnections });
  const { sql } = lifecycle.own('flag database', requests);
  const { sql: definitionSql } = lifecycle.own('flag definition database', definitions);
  if (isAlone) {
    const first = lifecycle.own('first response', awaitFirstResponse(definitionSql));
    health.addReadinessCheck('database', () => (first.hasResponded() ? null : 'PostgreSQL has not responded yet.'));
  }
  return lifecycle.own('flags', createFlagServices({ sql, definitionSql, cache, changes, config, metrics }));
}

function openLog(config: GatewayConfig, logger: Logger, metrics: Metrics): { log: EventLog; pool?: SqlDatabase } {
  const openPool = () =>
    createSqlDatabase({ url: config.databaseUrl, logger, applicationName: `${service} log`, ...logPool });
  const hasFallback = isFallbackEnabled(config);
  if (config.eventLog === 'postgres') {
    const pool = openPool();
    return { log: createPostgresLog({ database: pool, logger, metrics }), pool };
  }
  const kafka = createKafkaLog({ ...toKafkaConnection(config), clientId: service, logger, metrics });
  if (!hasFallback) return { log: kafka };
  const pool = openPool();
  const { topicPrefix, topicPartitions: partitions, eventLogFallbackAfterMs: openAfterMs } = config;
  const topic = fallbackTopic(topicPrefix);
  return { log: createFallbackLog({ kafka, database: pool, topic, partitions, openAfterMs, logger, metrics }), pool };
}

/** Reads the browser library, by default from the build output folder (packages/stack). */
async function readLibrary({ browserLibraryDirectory }: GatewayConfig, logger: Logger): Promise<BrowserLibrary | null> {
  const directory =
    browserLibraryDirectory || fileURLToPath(new URL('./browser-library/', buildFolder(import.meta.url)));
  const library = await readBrowserLibrary(directory);
  if (library === null) logger.info('browser library not found', { directory });
  return library;
}

/** Returns the URL of the source file or of the built program (packages/stack, programs.ts). */
function bodyProgram(here: string): URL {
  return here.endsWith('.ts')
    ? new URL('./capture/body-worker-source.mjs', here)
    : new URL('./ingest-gateway-body-worker.mjs', buildFolder(here));
}

/**
 * Returns the folder of the built programs. Code that several programs share is in its `chunks` folder (packages/stack,
 * build-programs.ts).
 */
const buildFolder = (here: string): URL => new URL(here.includes('/chunks/') ? '..' : '.', here);

const firstDelayMs = 250;
const longestDelayMs = 10_000;

/**
 * Creates the topics in the background, and retries until this succeeds, because the gateway must start and respond
 * even while the log is unavailable.
 */
function ensureTopics(
  log: Pick<EventLog, 'ensureTopics'>,
  options: { topics: TopicNames; partitions: number; logger: Logger },
): Stoppable & { isDone(): boolean } {
  const { logger, partitions } = options;
  const required = Object.values(options.topics).map((topic: string) => ({ topic, partitions }));
  let isDone = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function attempt(delayMs: number): Promise<void> {
    try {
      await log.ensureTopics(required);
      isDone = true;
    } catch (error) {
      if (isStopped) return;
      logger.warn('could not read or create the topics; retrying', { error, delayMs });
      timer = setTimeout(() => void attempt(Math.min(delayMs * 2, longestDelayMs)), delayMs);
    }
  }

  void attempt(firstDelayMs);
  return {
    isDone: () => isDone,
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
