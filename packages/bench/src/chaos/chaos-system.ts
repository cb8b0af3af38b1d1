import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@millrace/db';
import { startKafka } from '@millrace/stack/servers/kafka';
import { removePostgresFiles, startPostgres } from '@millrace/stack/servers/postgres';
import { startRedis } from '@millrace/stack/servers/redis';
import { createReaper, freePort, type RunningServer, readProcessRecord } from '@millrace/stack/servers/server-process';
import {
  compilePrograms,
  createTestTenant,
  prismaDirectory,
  type ServiceProcess,
  startService,
  type TestTenant,
} from '@millrace/testing';
import pg from 'pg';

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

/** A server of a chaos run's own that can be broken and repaired. */
export interface ChaosServer {
  /** Stays the same over every fault. */
  address: string;
  /** False when it was killed, and when it has ended by itself. */
  isRunning(): boolean;
  /** SIGKILL or what comes closest; resolves when it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Its kernel still takes connections and bytes, but nobody answers: a black hole. */
  freeze(): void;
  thaw(): void;
  /** The same server with the same data again; resolves when it answers. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface ChaosServerOptions {
  /** Where it keeps its files, with the record of its process. */
  directory: string;
  /** Starts it on the port it had before, or a free one the first time (0). */
  start(port: number): Promise<RunningServer>;
  killSignal: NodeJS.Signals;
}

export async function startChaosServer(options: ChaosServerOptions): Promise<ChaosServer> {
  let isRunning = false;
  let server = await start(0);
  const { address } = server;
  const port = Number(/:(\d+)(?:\/|$)/.exec(address)?.[1]);

  async function start(at: number): Promise<RunningServer> {
    const started = await options.start(at);
    isRunning = true;
    void started.ended.then(() => {
      isRunning = false;
    });
    return started;
  }

  function send(signal: NodeJS.Signals): void {
    const record = readProcessRecord(join(options.directory, 'process.json'));
    if (record === null) throw new Error(`the process of ${options.directory} is unknown`);
    process.kill(record.pid, signal);
  }

  return {
    address,
    isRunning: () => isRunning,
    async kill(signal = options.killSignal) {
      if (!isRunning) return;
      send(signal);
      await server.ended;
    },
    freeze: () => send('SIGSTOP'),
    thaw: () => send('SIGCONT'),
    async restart() {
      if (isRunning) return;
      server = await start(port);
      if (server.address !== address)
        throw new Error(`a server did not restart at its previous address: ${options.directory}`);
    },
    async stop() {
      if (isRunning) await server.stop();
    },
  };
}

export const topicPrefix = 'chaos.';
const partitions = 8;
/** Of every service, unless it is told otherwise. */
export const usualSettings = { EVENT_LOG: 'kafka', TOPIC_PREFIX: topicPrefix, TOPIC_PARTITIONS: String(partitions) };

/** Compiled programs of one build. */
export interface ServiceFiles {
  gateway: string;
  consumer: string;
  api: string;
}

export interface ChaosServices {
  /** @param port to listen on, for one that comes back; 0 takes a free one. */
  startGateway(port: number, settings?: Record<string, string>): Promise<ServiceProcess>;
  startConsumer(settings?: Record<string, string>): Promise<ServiceProcess>;
  startManagementApi(): Promise<ServiceProcess>;
}

/**
 * @param settings of all services.
 * @param closers gets what ends them.
 */
export function createServiceStarter(
  settings: Record<string, string>,
  { logs, closers }: { logs: string | null; closers: (() => Promise<unknown> | unknown)[] },
): (files: ServiceFiles) => ChaosServices {
  const shared = {
    ...usualSettings,
    ...{ LOG_LEVEL: logs === null ? 'warn' : 'info', HEALTH_PORT: '0', NODE_ENV: 'production', ...settings },
  };
  if (logs !== null) mkdirSync(logs, { recursive: true });
  let started = 0;
  const services = new Set<ServiceProcess>();
  closers.push(() => Promise.all([...services].map((service) => service.stop())));
  const start = async (name: string, file: string, more: Record<string, string>) => {
    started += 1;
    const logFile = logs === null ? undefined : join(logs, `${String(started).padStart(3, '0')}-${name}.log`);
    const service = await startService(name, file, { ...shared, ...more }, { logFile });
    services.add(service);
    return service;
  };
  const unlimited = { API_REQUESTS_PER_MINUTE: '0', API_REQUESTS_PER_HOUR: '0' };
  return ({ gateway, consumer, api }) => ({
    startGateway: (port, more = {}) =>
      start('ingest-gateway', gateway, { ...more, INGEST_PORT: String(port), INGEST_HOST: '127.0.0.1' }),
    startConsumer: (more = {}) => start('event-consumer', consumer, more),
    startManagementApi: () => start('management-api', api, { API_PORT: '0', API_HOST: '127.0.0.1', ...unlimited }),
  });
}
