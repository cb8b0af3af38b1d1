// Starts everything that `npm start` needs, in order: servers, services and the demo.

import { join } from 'node:path';
import { type DemoShop, serveDemo } from '@millrace/browser/demo';
import { migrate } from '@millrace/db/migrate';
import { createSqlDatabase } from '@millrace/db/sql';
import { createLogger, isAppError } from '@millrace/runtime';
import { allInOne } from '../build/programs.ts';
import { type Progress, SetupProblem } from '../command.ts';
import { startPostgres } from '../servers/postgres.ts';
import type { Source } from '../servers/provision.ts';
import { findFreePort, type Reaper, type RunningServer } from '../servers/server-process.ts';
import type { Connection } from './connection-file.ts';
import { createConsoleLink, type Demo, ensureDemo } from './demo.ts';
import { ensureDemoFlags } from './demo-flags.ts';
import { ensureExampleShop } from './example-shop.ts';
import { readPorts } from './ports.ts';
import { ensureSecretsKey } from './secrets-key.ts';
import {
  buildPublicApiUrl,
  buildServiceEnvironment,
  buildServiceUrl,
  type ServiceSettings,
  toStorageSettings,
} from './service-environment.ts';
import type { StopRequest } from './stop-request.ts';
import { type SupervisedServices, superviseServices } from './supervise.ts';

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
  /** A one-time sign-in link for the demo's owner, or null if the console is not served. */
  consoleUrl: string | null;
  /** A link to a dashboard with 30 days of example events, or null if the dashboard was deleted. */
  exampleUrl: string | null;
  /** Stops the services first, and then the servers that they use. */
  stop(): Promise<void>;
}

/**
 * Starts the servers in parallel, then the services and the demo. If one of them fails, stops everything that was
 * started.
 */
export async function runSystem(options: SystemOptions): Promise<RunningSystem> {
  const { directory, progress, stopRequest } = options;
  const parts: { name: string; stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const part of parts.splice(0).reverse()) await progress.step(`Stopping ${part.name}`, () => part.stop());
  };
  const own = (name: string, server: RunningServer): RunningServer => {
    parts.push({ name, stop: server.stop });
    void server.ended.then(() =>
      stopRequest.fail(`${name} exited unexpectedly. Its last output:\n${server.lastLog()}`),
    );
    return server;
  };
  try {
    const [databaseUrl, broker] = await all([
      startDatabase(options, own),
      options.withKafka ? startBroker(options, own) : Promise.resolve({}),
    ]);
    const settings: ServiceSettings = { databaseUrl, secretsKey: ensureSecretsKey(directory), ...broker };
    const [{ demo, consoleSecret }, { ports }] = await all([
      progress.step('Demo organization', () => prepareDemo(databaseUrl, directory)),
      startServices(settings, options).then((services) => {
        parts.push({ name: 'the services', stop: services.stop });
        return services;
      }),
    ]);
    const ingestUrl = buildServiceUrl(process.env, 'ingest', ports.ingest);
    const apiUrl = buildServiceUrl(process.env, 'api', ports.api);
    const shop = await startShop(ingestUrl, demo.projectApiKey);
    parts.push({ name: 'the demo shop', stop: shop.stop });
    const connection = {
      ...demo,
      ingestUrl,
      apiUrl,
      shopUrl: shop.url,
      settings: toStorageSettings(process.env, settings),
    };
    if (!stopRequest.isMade()) await progress.step('Demo flags', () => ensureDemoFlags(connection));
    const examplePath = stopRequest.isMade()
      ? null
      : await progress.step('Example shop', () => ensureExampleShop(connection, directory));
    const isServed = process.env.CONSOLE !== 'off';
    const consoleAddress = buildPublicApiUrl(process.env, ports.api)?.replace(/\/+$/, '') ?? apiUrl;
    return {
      connection,
      consoleUrl: isServed ? `${consoleAddress}/console/enter#${consoleSecret}` : null,
      exampleUrl: isServed && examplePath !== null ? `${consoleAddress}${examplePath}` : null,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Own = (name: string, server: RunningServer) => RunningServer;

async function startDatabase({ root, directory, reaper, progress }: SystemOptions, own: Own): Promise<string> {
  const { postgres } = readPorts(process.env);
  const files = join(directory, 'postgres');
  const { address: databaseUrl } = await progress.step(
    'PostgreSQL',
    async () => own('PostgreSQL', await startPostgres({ directory: files, preferredPort: postgres, reaper })),
    { log: join(files, 'postgres.log') },
  );
  await progress.step('Migrating the database', () => migrateOrOfferFresh(databaseUrl, join(root, 'prisma')));
  return databaseUrl;
}

async function migrateOrOfferFresh(databaseUrl: string, prismaDirectory: string): Promise<void> {
  try {
    await migrate(databaseUrl, prismaDirectory);
  } catch (error) {
    if (!isAppError(error, 'conflict') || error.code !== 'older_database') throw error;
    throw new SetupProblem(
      `${error.message} \`npm start -- --fresh\` starts with an empty database and moves the existing data to another folder.`,
    );
  }
}

async function startShop(ingestUrl: string, projectApiKey: string): Promise<DemoShop> {
  return serveDemo({ ingestUrl, projectApiKey, port: await findFreePort(readPorts(process.env).shop) });
}

async function prepareDemo(url: string, directory: string): Promise<{ demo: Demo; consoleSecret: string }> {
  const database = createSqlDatabase({ url, logger: createLogger('start', 'warn'), poolSize: 1 });
  try {
    const demo = await ensureDemo(database, directory);
    return { demo, consoleSecret: await createConsoleLink(database) };
  } finally {
    await database.stop();
  }
}

async function startBroker({ directory, reaper, progress }: SystemOptions, own: Own) {
  // Import only when needed, because this module loads libraries that are not otherwise used here.
  const { kafkaSources, provideServer, redisSources } = await import('../servers/provision.ts');
  const options = { directory, reaper, ports: readPorts(process.env), say: progress.print };
  const start = (name: string, sources: Source[]) =>
    progress.step(name, async () => own(name, (await provideServer(name, sources)).server));
  const [kafka, redis] = await all([start('Kafka', kafkaSources(options)), start('Redis', redisSources(options))]);
  return { kafkaBrokers: kafka.address, redisUrl: redis.address };
}

function startServices(settings: ServiceSettings, options: SystemOptions): Promise<SupervisedServices> {
  const { directory, reaper, progress, stopRequest, logDirectory } = options;
  const logFile = join(logDirectory, 'services.log');
  const start = () =>
    superviseServices({
      file: join(directory, 'build', `${allInOne}.mjs`),
      logFile,
      preferredPorts: readPorts(process.env),
      env: (ports) => buildServiceEnvironment(process.env, settings, ports),
      healthUrl: ({ health }) => buildServiceUrl(process.env, 'health', health),
      reaper,
      tell: progress.print,
      giveUp: stopRequest.fail,
    });
  return progress.step('Services', start, { log: logFile });
}

/**
 * Waits for all promises as Promise.all does, but also if one of them fails, so that everything that they have started
 * can be stopped.
 */
async function all<T extends readonly Promise<unknown>[]>(
  promises: readonly [...T],
): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises) as Promise<{ [K in keyof T]: Awaited<T[K]> }>;
}
