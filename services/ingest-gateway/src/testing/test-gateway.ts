import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { type TopicNames, topicNames } from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
import { createSqlDatabase, watchProjectChanges } from '@millrace/db/sql';
import { createKafkaLog, type EventLog } from '@millrace/event-log';
import { createHealth, createMetrics, type Logger, type Metrics, readConfig, type Stoppable } from '@millrace/runtime';
import { createRedisStore, type KeyValueStore } from '@millrace/runtime/cache';
import type { Tracing } from '@millrace/runtime/tracing';
import {
  compilePrograms,
  createTestDatabase,
  eventually,
  patienceMs,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';
import { createProjectKeys, type ProjectKeysOptions } from '../access/project-keys.ts';
import type { StoreTimeLimits } from '../access/store-limits.ts';
import { createGateway, type Gateway } from '../app.ts';
import type { BrowserLibrary } from '../config/library.ts';
import { type GatewayConfig, gatewayConfigSchema, parseGatewayRoles } from '../config.ts';
import { createFlagServices } from '../flags/dependencies.ts';
import { createTrafficControl } from '../limits/traffic-control.ts';
import { patientTimeLimits } from './patient-time-limits.ts';
import { quietLogger } from './quiet-logger.ts';

export interface TestGateway extends Gateway {
  url: string;
  port: number;
  metrics: Metrics;
}

export interface GatewayOptions {
  log?: Pick<EventLog, 'append'>;
  config?: Partial<GatewayConfig>;
  logger?: Logger;
  keys?: Partial<ProjectKeysOptions>;
  library?: BrowserLibrary;
  cache?: KeyValueStore;
  now?: () => number;
  /** The time limits for the stores. Long by default, so that a slow machine does not look like an outage. */
  timeLimits?: StoreTimeLimits;
  tracing?: Tracing | null;
  /** A thread for large bodies exits when it gets a body that contains this string. */
  exitsOn?: string;
}

/** Real servers for one test file: a database, topics, Redis with its own key prefix, and gateways. */
export interface GatewayFixture {
  databaseUrl: string;
  database: Database;
  cache: KeyValueStore;
  cachePrefix: string;
  log: EventLog;
  topics: TopicNames;
  startGateway(parts?: GatewayOptions): Promise<TestGateway>;
  stop(): Promise<void>;
}

/** The program is compiled, because a thread that loads the sources takes two seconds of CPU time to start. */
const bodyProgramSource = 'services/ingest-gateway/src/capture/body-worker.ts';

function exitingProgram(text: string, program: URL): URL {
  const source = `
    import { parentPort } from 'node:worker_threads';
    await import(${JSON.stringify(program.href)});
    parentPort.on('message', ({ raw = '' }) => {
      if (Buffer.from(raw).includes(${JSON.stringify(text)})) process.exit(1);
    });`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

export async function createGatewayFixture(): Promise<GatewayFixture> {
  const logger = quietLogger();
  const [own, programs] = await Promise.all([createTestDatabase(), compilePrograms([bodyProgramSource])]);
  const bodyProgram = pathToFileURL(programs.files[0] ?? '');
  const programFor = (exitsOn?: string) => (exitsOn === undefined ? bodyProgram : exitingProgram(exitsOn, bodyProgram));
  const { database, flagDatabase, changes } = await openDatabases(own.url, logger);
  const cachePrefix = `t-${randomUUID()}:`;
  const cache = openCache(cachePrefix, logger);
  const log = openLog(logger);
  const topics = topicNames(uniqueTopicPrefix());
  await log.ensureTopics(Object.values(topics).map((topic: string) => ({ topic, partitions: 3 })));
  const gateways: TestGateway[] = [];
  const controls: Stoppable[] = [];

  async function startGateway({ config, keys = {}, tracing = null, exitsOn, ...parts }: GatewayOptions = {}) {
    const { timeLimits = patientTimeLimits } = parts;
    const metrics = createMetrics({ withProcessMetrics: false, hasExemplars: tracing !== null });
    const defaults = readConfig(gatewayConfigSchema, { DATABASE_URL: own.url, STOP_DELAY_MS: '0' });
    const stores = { sql: database.sql, cache: parts.cache ?? cache };
    const projectKeys = createProjectKeys({ sql: stores.sql, changes, logger, metrics, timeLimits, ...keys });
    const shared = {
      ...{ log: parts.log ?? log, sql: keys.sql ?? database.sql, config: { ...defaults, ...config } },
      ...{ topics, changes, metrics },
    };
    const clock = parts.now === undefined ? {} : { now: parts.now };
    const traffic = await createTrafficControl({ ...shared, cache: stores.cache, logger, ...clock });
    controls.push(traffic);
    const flagOptions = { cache: stores.cache, changes: keys.changes ?? changes, config: shared.config, metrics };
    const flagSql = keys.sql ?? flagDatabase.sql;
    const flags = createFlagServices({ ...flagOptions, ...clock, timeLimits, sql: flagSql, definitionSql: flagSql });
    controls.push(flags);
    const roles = parseGatewayRoles(shared.config);
    const gateway = createGateway({
      ...{ projectKeys, flags, config: shared.config, metrics, health: createHealth(metrics), tracing },
      ingest: roles.has('ingest') ? { log: shared.log, topics, traffic, bodyProgram: programFor(exitsOn) } : null,
      servesFlags: roles.has('flags'),
      ...{ library: parts.library ?? null, logger: parts.logger ?? logger },
    });
    await new Promise<void>((resolve) => gateway.server.listen(0, '127.0.0.1', resolve));
    const { port } = gateway.server.address() as AddressInfo;
    const started = { ...gateway, metrics, port, url: `http://127.0.0.1:${port}` };
    gateways.push(started);
    return started;
  }

  return {
    databaseUrl: own.url,
    database,
    cache,
    cachePrefix,
    log,
    topics,
    startGateway,
    async stop() {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await Promise.all(controls.map((control) => control.stop()));
      await flagDatabase.stop();
      await log.close();
      await cache.stop();
      await changes.stop();
      await database.stop();
      await own.drop();
      await programs.remove();
    },
  };
}

async function openDatabases(url: string, logger: Logger) {
  const pool = { url, logger, poolSize: 4, connectTimeoutMs: patienceMs };
  const database = createDatabase(pool);
  const changes = watchProjectChanges({ database, logger, metrics: createMetrics({ withProcessMetrics: false }) });
  await eventually(() => changes.isSubscribed(), { what: 'hearing of changes' });
  return { database, flagDatabase: createSqlDatabase({ ...pool, preparesQueries: true }), changes };
}

function openCache(keyPrefix: string, logger: Logger): KeyValueStore {
  const patience = { commandTimeoutMs: patienceMs, silenceTimeoutMs: patienceMs };
  return createRedisStore(testServers().redisUrl, logger, { keyPrefix, ...patience });
}

function openLog(logger: Logger): EventLog {
  const patience = { fetchWaitMs: 100, appendTimeoutMs: patienceMs };
  return createKafkaLog({ brokers: testServers().kafkaBrokers, clientId: 'gateway-test', logger, ...patience });
}
