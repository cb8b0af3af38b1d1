import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@millrace/db';
import { startKafka } from '@millrace/stack/src/kafka/start-kafka.ts';
import { removePostgresFiles } from '@millrace/stack/src/postgres/postgres-files.ts';
import { startPostgres } from '@millrace/stack/src/postgres/start-postgres.ts';
import { freePort } from '@millrace/stack/src/process/free-port.ts';
import { createReaper } from '@millrace/stack/src/process/reaper.ts';
import { startRedis } from '@millrace/stack/src/redis/start-redis.ts';
import {
  compilePrograms,
  createTestTenant,
  prismaDirectory,
  type ServiceProcess,
  startService,
  type TestTenant,
} from '@millrace/testing';
import pg from 'pg';
import { type ChaosServer, startChaosServer } from './chaos-server.ts';

/** Servers of a run's own, a project in an empty database, and the services compiled as they are installed. */
export interface ChaosSystem {
  postgres: ChaosServer;
  kafka: ChaosServer;
  redis: ChaosServer;
  tenant: TestTenant;
  /** Somebody else, whose project shares everything with it. */
  stranger: TestTenant;
  /** Straight to the database. Fails while PostgreSQL is down. */
  database: pg.Pool;
  /** @param port to listen on, for one that comes back; 0 takes a free one. */
  startGateway(port: number, settings?: Record<string, string>): Promise<ServiceProcess>;
  startConsumer(settings?: Record<string, string>): Promise<ServiceProcess>;
  startManagementApi(): Promise<ServiceProcess>;
  stop(): Promise<void>;
}

export const topicPrefix = 'chaos.';
const partitions = 8;

/** A commit must survive its server's end, but not that of the machine. */
const postgresSettings = { fsync: 'off', full_page_writes: 'off' };

/** @param logs directory that gets one file with all that a service says, from `info` on; null keeps nothing. */
export async function startChaosSystem(
  settings: Record<string, string> = {},
  logs: string | null = null,
): Promise<ChaosSystem> {
  const root = mkdtempSync(join(tmpdir(), 'millrace-chaos-'));
  const reaper = createReaper();
  const closers: (() => Promise<unknown> | unknown)[] = [
    () => rmSync(root, { recursive: true, force: true }),
    () => removePostgresFiles(join(root, 'postgres')),
    () => reaper.dismiss(),
  ];
  const stop = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    const own = async (name: string, killSignal: NodeJS.Signals, start: typeof startRedis) => {
      const directory = join(root, name);
      const server = await startChaosServer({
        ...{ directory, killSignal },
        // Never 0: Kafka takes the port beside it for itself, and must find it again.
        start: async (port) => start({ directory, preferredPort: port || (await freePort()), reaper }),
      });
      closers.push(server.stop);
      return server;
    };
    const [postgres, kafka, redis] = await Promise.all([
      // Without SIGQUIT its children would outlive it for a moment and keep the next one from starting.
      own('postgres', 'SIGQUIT', (options) => startPostgres({ ...options, settings: postgresSettings })),
      own('kafka', 'SIGKILL', startKafka),
      own('redis', 'SIGKILL', startRedis),
    ]);
    await migrate(postgres.address, prismaDirectory);
    const tenant = await createTestTenant(postgres.address);
    const stranger = await createTestTenant(postgres.address);
    const database = new pg.Pool({ connectionString: postgres.address, max: 3, connectionTimeoutMillis: 2000 });
    database.on('error', () => {});
    closers.push(() => database.end());
    const addresses = {
      ...{ DATABASE_URL: postgres.address, KAFKA_BROKERS: kafka.address, REDIS_URL: redis.address },
      ...settings,
    };
    const services = await compileServices(addresses, { logs, closers });
    return { ...{ postgres, kafka, redis, tenant, stranger, database }, ...services, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Services = Pick<ChaosSystem, 'startGateway' | 'startConsumer' | 'startManagementApi'>;

/** @param closers gets what ends the services and removes their programs. */
async function compileServices(
  settings: Record<string, string>,
  { logs, closers }: { logs: string | null; closers: (() => Promise<unknown> | unknown)[] },
): Promise<Services> {
  const programs = await compilePrograms([
    'services/ingest-gateway/src/main.ts',
    'services/event-consumer/src/main.ts',
    'services/management-api/src/main.ts',
  ]);
  closers.push(programs.remove);
  const [gatewayFile = '', consumerFile = '', apiFile = ''] = programs.files;
  const shared = {
    ...{ EVENT_LOG: 'kafka', TOPIC_PREFIX: topicPrefix, TOPIC_PARTITIONS: String(partitions) },
    ...{ LOG_LEVEL: logs === null ? 'warn' : 'info', HEALTH_PORT: '0', NODE_ENV: 'production', ...settings },
  };
  if (logs !== null) mkdirSync(logs, { recursive: true });
  let started = 0;
  const services = new Set<ServiceProcess>();
  closers.push(() => Promise.all([...services].map((service) => service.stop())));
  const start = async (name: string, file: string, more: Record<string, string>) => {
    started += 1;
    const logFile = logs === null ? undefined : join(logs, `${String(started).padStart(3, '0')}-${name}.log`);
    const service = await startService(name, file, { ...shared, ...more }, logFile);
    services.add(service);
    return service;
  };
  const unlimited = { API_REQUESTS_PER_MINUTE: '0', API_REQUESTS_PER_HOUR: '0' };
  return {
    startGateway: (port, more = {}) =>
      start('ingest-gateway', gatewayFile, { ...more, INGEST_PORT: String(port), INGEST_HOST: '127.0.0.1' }),
    startConsumer: (more = {}) => start('event-consumer', consumerFile, more),
    startManagementApi: () => start('management-api', apiFile, { API_PORT: '0', API_HOST: '127.0.0.1', ...unlimited }),
  };
}
