// Starts the servers and services that a chaos test breaks.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@millrace/db';
import { startKafka } from '@millrace/stack/servers/kafka';
import { removePostgresFiles, startPostgres } from '@millrace/stack/servers/postgres';
import { startRedis } from '@millrace/stack/servers/redis';
import { createReaper, findFreePort } from '@millrace/stack/servers/server-process';
import {
  type BreakableServer,
  compilePrograms,
  createTestTenant,
  prismaDirectory,
  type ReleaseBuild,
  type ServiceProcess,
  startBreakableServer,
  startService,
  type TestTenant,
} from '@millrace/testing';
import pg from 'pg';
import { programs } from '../harness/bench.ts';
import type { Print } from '../harness/command.ts';

export interface ChaosSystem extends ChaosServices {
  postgres: BreakableServer;
  kafka: BreakableServer;
  redis: BreakableServer;
  database: pg.Pool;
  tenant: TestTenant;
  settings: Record<string, string>;
  servicesOf(files: ServiceFiles): ChaosServices;
  /** Registers a function to call when the run ends. Functions are called in reverse order. */
  onEnd(stop: () => unknown): void;
}

type ServiceFiles = ReleaseBuild['files'];

export interface ChaosServices {
  /** Starts a gateway. @param port the port of the stopped gateway that it replaces, or 0 for any free port */
  startGateway(port: number, settings?: Record<string, string>): Promise<ServiceProcess>;
  startConsumer(settings?: Record<string, string>): Promise<ServiceProcess>;
}

/**
 * Additional settings of the services and of PostgreSQL, and an alternative way to migrate the database and create the
 * project.
 */
interface ChaosSystemOptions {
  settings?: Record<string, string>;
  postgres?: Record<string, string>;
  prepare?(address: string): Promise<TestTenant>;
}

export const topicPrefix = 'chaos.';

export async function withChaosSystem<Result>(
  print: Print,
  { settings = {}, postgres: postgresSettings = {}, prepare = prepareDatabase }: ChaosSystemOptions,
  work: (system: ChaosSystem) => Promise<Result>,
): Promise<Result> {
  print('starting PostgreSQL, Kafka, Redis and the services');
  const root = mkdtempSync(join(tmpdir(), 'millrace-chaos-'));
  const reaper = createReaper();
  const ends: (() => unknown)[] = [
    () => rmSync(root, { recursive: true, force: true }),
    () => removePostgresFiles(join(root, 'postgres')),
    () => reaper.dismiss(),
  ];
  const onEnd = (stop: () => unknown) => void ends.push(stop);
  try {
    const own = async (name: string, killSignal: NodeJS.Signals, start: typeof startRedis) => {
      const directory = join(root, name);
      const server = await startBreakableServer({
        directory,
        killSignal,
        // Do not pass port 0, because Kafka also uses the next port and needs both ports again after a restart.
        start: async (port) => start({ directory, preferredPort: port || (await findFreePort()), reaper }),
      });
      onEnd(server.stop);
      return server;
    };
    // With these settings, a commit survives a crash of the PostgreSQL server, but not a crash of the machine.
    const ofPostgres = { fsync: 'off', full_page_writes: 'off', ...postgresSettings };
    const [postgres, kafka, redis] = await Promise.all([
      // Stop the server with SIGQUIT. After SIGKILL, its child processes would keep running for a moment and prevent
      // the next server from starting.
      own('postgres', 'SIGQUIT', (options) => startPostgres({ ...options, settings: ofPostgres })),
      own('kafka', 'SIGKILL', startKafka),
      own('redis', 'SIGKILL', startRedis),
    ]);
    const tenant = await prepare(postgres.address);
    const database = new pg.Pool({ connectionString: postgres.address, max: 3, connectionTimeoutMillis: 2000 });
    database.on('error', () => {});
    onEnd(() => database.end());
    const compiled = await compilePrograms([programs.gateway, programs.consumer]);
    onEnd(compiled.remove);
    const [gateway = '', consumer = ''] = compiled.files;
    const all = {
      EVENT_LOG: 'kafka',
      TOPIC_PREFIX: topicPrefix,
      TOPIC_PARTITIONS: '8',
      DATABASE_URL: postgres.address,
      KAFKA_BROKERS: kafka.address,
      REDIS_URL: redis.address,
      ...settings,
    };
    const servicesOf = createServiceStarter(all, onEnd);
    const services = servicesOf({ gateway, consumer });
    return await work({ postgres, kafka, redis, database, tenant, settings: all, servicesOf, ...services, onEnd });
  } finally {
    print('stopping');
    for (const end of ends.reverse()) await end();
  }
}

async function prepareDatabase(address: string): Promise<TestTenant> {
  await migrate(address, prismaDirectory);
  return createTestTenant(address);
}

/** Creates a function that starts services. They are stopped when the run ends. */
export function createServiceStarter(
  settings: Record<string, string>,
  onEnd: (stop: () => unknown) => void,
): (files: ServiceFiles) => ChaosServices {
  const shared = { LOG_LEVEL: 'warn', HEALTH_PORT: '0', NODE_ENV: 'production', ...settings };
  const started = new Set<ServiceProcess>();
  onEnd(() => Promise.all([...started].map((service) => service.stop())));
  const start = async (name: string, file: string, more: Record<string, string>) => {
    const service = await startService(name, file, { ...shared, ...more });
    started.add(service);
    return service;
  };
  return ({ gateway, consumer }) => ({
    startGateway: (port, more = {}) =>
      start('ingest-gateway', gateway, { ...more, INGEST_PORT: String(port), INGEST_HOST: '127.0.0.1' }),
    startConsumer: (more = {}) => start('event-consumer', consumer, more),
  });
}
