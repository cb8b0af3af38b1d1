import {
  compilePrograms,
  createTestDatabase,
  createTestTenant,
  type ServiceProcess,
  startService,
  type TestTenant,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';

export const eventLogs = ['kafka', 'postgres'] as const;
export type EventLogKind = (typeof eventLogs)[number];

export interface ServicesOptions {
  eventLog: EventLogKind;
  /** Number of consumers. The default is 1. */
  consumers?: number;
  /** Whether to start the management API. The default is true. Use false for a test that only reads the database. */
  managementApi?: boolean;
  /** The brokers that the services use, for example a fault proxy. */
  brokers?: string[];
  settings?: Record<string, string>;
  /** Converts the database URL to the URL that the services use. */
  databaseUrlForServices?: (url: string) => string;
  logFile?: string;
}

/** The entire system in real processes, with a separate database, topics and organization. */
export interface RunningServices {
  eventLog: EventLogKind;
  topicPrefix: string;
  ingestUrl: string;
  apiUrl: string;
  tenant: TestTenant;
  /** A direct connection to the database, without a fault proxy. */
  database: pg.Pool;
  databaseUrl: string;
  gateway: ServiceProcess;
  /** The consumers. A killed consumer's replacement gets the same index. */
  consumers: ServiceProcess[];
  startConsumer(): Promise<ServiceProcess>;
  /** Starts an additional gateway, which the caller must stop. */
  startGateway(): Promise<ServiceProcess>;
  stop(): Promise<void>;
}

const partitions = 4;

export async function startServices(options: ServicesOptions): Promise<RunningServices> {
  const servers = testServers();
  const programs = await compilePrograms([
    'services/ingest-gateway/src/main.ts',
    'services/event-consumer/src/main.ts',
    'services/management-api/src/main.ts',
  ]);
  const testDatabase = await createTestDatabase();
  const tenant = await createTestTenant(testDatabase.url);
  const topicPrefix = uniqueTopicPrefix();
  const database = new pg.Pool({ connectionString: testDatabase.url, max: 3 });
  database.on('error', () => {});

  const settings: Record<string, string> = {
    DATABASE_URL: options.databaseUrlForServices?.(testDatabase.url) ?? testDatabase.url,
    EVENT_LOG: options.eventLog,
    TOPIC_PREFIX: topicPrefix,
    TOPIC_PARTITIONS: String(partitions),
    LOG_LEVEL: 'info',
    // The shortest timeout that brokers accept by default. After this time without a heartbeat, a killed consumer's
    // partitions are reassigned.
    KAFKA_SESSION_TIMEOUT_MS: '6000',
    INGEST_PORT: '0',
    API_PORT: '0',
    // Turn off the rate limit, because tests poll until data has arrived.
    API_REQUESTS_PER_MINUTE: '0',
    API_REQUESTS_PER_HOUR: '0',
    HEALTH_PORT: '0',
    // The embedded system does not use Kafka or Redis.
    ...(options.eventLog === 'kafka'
      ? { KAFKA_BROKERS: (options.brokers ?? servers.kafkaBrokers).join(','), REDIS_URL: servers.redisUrl }
      : {}),
    ...options.settings,
  };
  const [gatewayFile = '', consumerFile = '', apiFile = ''] = programs.files;
  const startConsumer = () => startService('event-consumer', consumerFile, settings, { logFile: options.logFile });
  const startGateway = () => startService('ingest-gateway', gatewayFile, settings, { logFile: options.logFile });
  const [gateway, api, ...consumers] = await allOrNone([
    startGateway(),
    options.managementApi === false
      ? null
      : startService('management-api', apiFile, settings, { logFile: options.logFile }),
    ...Array.from({ length: options.consumers ?? 1 }, startConsumer),
  ]);
  if (!gateway) throw new Error('unreachable: the gateway is always started');
  const running = consumers.filter((consumer) => consumer !== null);
  return {
    eventLog: options.eventLog,
    topicPrefix,
    ingestUrl: `http://127.0.0.1:${gateway.port}`,
    apiUrl: `http://127.0.0.1:${api?.port}`,
    tenant,
    database,
    databaseUrl: testDatabase.url,
    gateway,
    consumers: running,
    startConsumer,
    startGateway,
    async stop() {
      await Promise.all([gateway, ...running, ...(api ? [api] : [])].map((service) => service.stop()));
      await database.end();
      await testDatabase.drop();
      await programs.remove();
      if (options.eventLog === 'kafka') await deleteTopics(topicPrefix);
    },
  };
}

/**
 * Waits for every service. If one service cannot start, stops all other services, which would otherwise keep the test
 * run alive.
 */
async function allOrNone(starting: (Promise<ServiceProcess> | null)[]): Promise<(ServiceProcess | null)[]> {
  const results = await Promise.allSettled(starting);
  const failed = results.find((result) => result.status === 'rejected');
  const started = results.map((result) => (result.status === 'fulfilled' ? result.value : null));
  if (failed === undefined) return started;
  await Promise.all(started.map((service) => service?.kill()));
  throw failed.reason;
}

async function deleteTopics(prefix: string): Promise<void> {
  const admin = new Kafka({ brokers: testServers().kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
    if (topics.length > 0) await admin.deleteTopics({ topics });
  } finally {
    await admin.disconnect();
  }
}
