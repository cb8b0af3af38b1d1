import { join } from 'node:path';
import { libraryFolder, writeLibrary } from '@millrace/browser/bundle';
import { type DemoShop, serveDemo } from '@millrace/browser/demo';
import { createDatabase, migrate } from '@millrace/db';
import { createLogger, isAppError } from '@millrace/runtime';
import { bundlePrograms } from '../build/build.ts';
import { programs, type ServiceName, services } from '../build/programs.ts';
import { type Progress, SetupProblem } from '../command.ts';
import { startPostgres } from '../servers/postgres.ts';
import { kafkaSources, provide, redisSources, type Source } from '../servers/provision.ts';
import { freePort, type Reaper, type RunningServer } from '../servers/server-process.ts';
import type { Connection } from './connection-file.ts';
import { type Demo, ensureDemo } from './demo.ts';
import { ensureDemoFlags } from './demo-flags.ts';
import { readPorts } from './ports.ts';
import { ensureSecretsKey } from './secrets-key.ts';
import { type ServiceSettings, serviceEnvironment, serviceUrl, storageSettings } from './service-environment.ts';
import type { StopRequest } from './stop-request.ts';
import { type SupervisedService, supervise } from './supervise.ts';

export interface SystemOptions {
  root: string;
  directory: string;
  logDirectory: string;
  withKafka: boolean;
  reaper: Reaper;
  progress: Progress;
  stopRequest: StopRequest;
}

export interface RunningSystem {
  connection: Connection;
  /** Services first, the outermost first, so that nobody loses what he still needs; then the servers. */
  stop(): Promise<void>;
}

/** Servers, data and programs side by side, then the services one after the other. Leaves nothing running if it fails. */
export async function runSystem(options: SystemOptions): Promise<RunningSystem> {
  const { root, directory, progress, stopRequest } = options;
  const parts: { name: string; stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const part of parts.splice(0).reverse()) await progress.step(`Stopping ${part.name}`, () => part.stop());
  };
  const own = (name: string, server: RunningServer): RunningServer => {
    parts.push({ name, stop: server.stop });
    void server.ended.then(() => stopRequest.fail(`${name} ended by itself. It said:\n${server.lastLog()}`));
    return server;
  };
  try {
    const built = join(directory, 'build');
    const [data, broker] = await all([
      startData(options, own),
      options.withKafka ? startBroker(options, own) : Promise.resolve({}),
      progress.step('Building the services', () => build(root, built)),
    ]);
    const secretsKey = ensureSecretsKey(directory);
    const settings: ServiceSettings = { databaseUrl: data.databaseUrl, secretsKey, ...broker };
    const ports: Partial<Record<ServiceName, number>> = {};
    for (const name of services) {
      if (stopRequest.isMade()) break;
      const service = await startOne(name, built, { settings, options });
      parts.push(service);
      ports[name] = service.port;
    }
    const ingestUrl = serviceUrl(process.env, 'ingest-gateway', ports['ingest-gateway'] ?? 0);
    const apiUrl = serviceUrl(process.env, 'management-api', ports['management-api'] ?? 0);
    const shop = await startShop(ingestUrl, data.demo.projectApiKey);
    parts.push({ name: 'the demo shop', stop: shop.stop });
    const connection = {
      ...data.demo,
      ...{ ingestUrl, apiUrl, shopUrl: shop.url },
      settings: storageSettings(process.env, settings),
    };
    if (!stopRequest.isMade()) await progress.step('Demo flags', () => ensureDemoFlags(connection));
    return { connection, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Own = (name: string, server: RunningServer) => RunningServer;

async function startData({ root, directory, reaper, progress }: SystemOptions, own: Own) {
  const { postgres } = readPorts(process.env);
  const { address: databaseUrl } = await progress.step('PostgreSQL', async () =>
    own('PostgreSQL', await startPostgres({ directory: join(directory, 'postgres'), preferredPort: postgres, reaper })),
  );
  await progress.step('Migrating the database', () => migrateOrOfferFresh(databaseUrl, join(root, 'prisma')));
  const demo = await progress.step('Demo organization', () => prepareDemo(databaseUrl, directory));
  return { databaseUrl, demo };
}

async function migrateOrOfferFresh(databaseUrl: string, prismaDirectory: string): Promise<void> {
  try {
    await migrate(databaseUrl, prismaDirectory);
  } catch (error) {
    if (!isAppError(error, 'conflict') || error.code !== 'older_database') throw error;
    throw new SetupProblem(`${error.message} \`npm start -- --fresh\` does so, and keeps the data of before beside.`);
  }
}

async function startShop(ingestUrl: string, projectApiKey: string): Promise<DemoShop> {
  return serveDemo({ ingestUrl, projectApiKey, port: await freePort(readPorts(process.env).shop) });
}

async function prepareDemo(url: string, directory: string): Promise<Demo> {
  const database = createDatabase({ url, logger: createLogger('start', 'warn'), poolSize: 1 });
  try {
    return await ensureDemo(database, directory);
  } finally {
    await database.stop();
  }
}

async function startBroker({ directory, reaper, progress }: SystemOptions, own: Own) {
  const options = { directory, reaper, ports: readPorts(process.env), say: progress.print };
  const start = (name: string, sources: Source[]) =>
    progress.step(name, async () => own(name, (await provide(name, sources)).server));
  const [kafka, redis] = await all([start('Kafka', kafkaSources(options)), start('Redis', redisSources(options))]);
  return { kafkaBrokers: kafka.address, redisUrl: redis.address };
}

function startOne(
  name: ServiceName,
  built: string,
  { settings, options }: { settings: ServiceSettings; options: SystemOptions },
): Promise<SupervisedService> {
  const { reaper, progress, stopRequest, logDirectory } = options;
  return progress.step(name, () =>
    supervise({
      name,
      file: join(built, `${name}.mjs`),
      logFile: join(logDirectory, `${name}.log`),
      preferredPort: readPorts(process.env)[name],
      env: (port) => serviceEnvironment(process.env, settings, { name, port }),
      url: (port) => serviceUrl(process.env, name, port),
      reaper,
      tell: progress.print,
      giveUp: stopRequest.fail,
    }),
  );
}

async function build(root: string, outDirectory: string): Promise<void> {
  await bundlePrograms(root, serviceEntries(root), outDirectory);
  await writeLibrary(join(outDirectory, libraryFolder), { isQuick: true });
}

function serviceEntries(root: string): Record<string, string> {
  return Object.fromEntries(Object.entries(programs(root)).filter(([name]) => name !== 'millrace'));
}

/** Like Promise.all, but waits for all of them even when one fails: what the others have started must be stopped. */
async function all<T extends readonly Promise<unknown>[]>(
  promises: readonly [...T],
): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises) as Promise<{ [K in keyof T]: Awaited<T[K]> }>;
}
