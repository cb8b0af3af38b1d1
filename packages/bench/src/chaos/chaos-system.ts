import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@millrace/db';
import { startKafka } from '@millrace/stack/src/kafka/start-kafka.ts';
import { removePostgresFiles } from '@millrace/stack/src/postgres/postgres-files.ts';
import { startPostgres } from '@millrace/stack/src/postgres/start-postgres.ts';
import { freePort } from '@millrace/stack/src/process/free-port.ts';
import { createReaper } from '@millrace/stack/src/process/reaper.ts';
import { startRedis } from '@millrace/stack/src/redis/start-redis.ts';
import { compilePrograms, createTestTenant, prismaDirectory, type TestTenant } from '@millrace/testing';
import pg from 'pg';
import { type ChaosServer, startChaosServer } from './chaos-server.ts';
import { type ChaosServices, createServiceStarter, type ServiceFiles, usualSettings } from './chaos-services.ts';

/** Servers of a run's own, a project in an empty database, and the services compiled as they are installed. */
export interface ChaosSystem extends ChaosServices, Tenants {
  postgres: ChaosServer;
  /** With its password. */
  postgresDirectory: string;
  kafka: ChaosServer;
  redis: ChaosServer;
  /** Straight to the database. Fails while PostgreSQL is down. */
  database: pg.Pool;
  /** The services of this build. */
  files: ServiceFiles;
  /** What every service is told. */
  settings: Record<string, string>;
  /** Starts services of another build than this one's. */
  servicesOf(files: ServiceFiles): ChaosServices;
  stop(): Promise<void>;
}

interface Tenants {
  tenant: TestTenant;
  /** Somebody else, whose project shares everything with it. */
  stranger: TestTenant;
}

/** A commit must survive its server's end, but not that of the machine. */
const postgresSettings = { fsync: 'off', full_page_writes: 'off' };

async function prepareDatabase(address: string): Promise<Tenants> {
  await migrate(address, prismaDirectory);
  return { tenant: await createTestTenant(address), stranger: await createTestTenant(address) };
}

export interface ChaosSystemOptions {
  /** Of all services. */
  settings?: Record<string, string> | undefined;
  /** Directory that gets one file with all that a service says, from `info` on; null keeps nothing. */
  logs?: string | null;
  /** Brings an empty database to the schema of who starts first, and makes the projects. */
  prepare?: (address: string) => Promise<Tenants>;
  /** Of PostgreSQL, beside those of every run. */
  postgres?: Record<string, string>;
}

export async function startChaosSystem(options: ChaosSystemOptions = {}): Promise<ChaosSystem> {
  const { settings = {}, logs = null, prepare = prepareDatabase } = options;
  const ofPostgres = { ...postgresSettings, ...options.postgres };
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
      own('postgres', 'SIGQUIT', (options) => startPostgres({ ...options, settings: ofPostgres })),
      own('kafka', 'SIGKILL', startKafka),
      own('redis', 'SIGKILL', startRedis),
    ]);
    const tenants = await prepare(postgres.address);
    const database = new pg.Pool({ connectionString: postgres.address, max: 3, connectionTimeoutMillis: 2000 });
    database.on('error', () => {});
    closers.push(() => database.end());
    const addresses = {
      ...{ DATABASE_URL: postgres.address, KAFKA_BROKERS: kafka.address, REDIS_URL: redis.address },
      ...settings,
    };
    const programs = await compilePrograms([
      'services/ingest-gateway/src/main.ts',
      'services/event-consumer/src/main.ts',
      'services/management-api/src/main.ts',
    ]);
    closers.push(programs.remove);
    const [gateway = '', consumer = '', api = ''] = programs.files;
    const servicesOf = createServiceStarter(addresses, { logs, closers });
    const files = { gateway, consumer, api };
    const services = servicesOf(files);
    const all = { ...usualSettings, ...addresses };
    const postgresDirectory = join(root, 'postgres');
    return {
      ...{ postgres, postgresDirectory, kafka, redis, database, settings: all, files, servicesOf, stop },
      ...tenants,
      ...services,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
