// `npm run dev`: runs one service from its sources, alongside the running system.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Command, dataDirectory, SetupProblem } from '../command.ts';
import { createConnectionFile } from './connection-file.ts';
import { findFreeServicePorts, readPorts } from './ports.ts';
import { buildServiceEnvironment, buildServiceUrl, toServiceSettings } from './service-environment.ts';

const services: Record<string, { directory: string; address: 'ingest' | 'api' | 'health' }> = {
  gateway: { directory: 'ingest-gateway', address: 'ingest' },
  consumer: { directory: 'event-consumer', address: 'health' },
  api: { directory: 'management-api', address: 'api' },
  worker: { directory: 'delivery-worker', address: 'health' },
};

/**
 * `npm run dev -- <service>`: runs an additional process of one service next to the system that `npm start` runs, with
 * the same database and event log. The process runs from the sources, accepts a debugger, and restarts when a file
 * changes.
 */
export const main: Command = async ({ progress, root, programArguments }) => {
  const [name = '', ...others] = programArguments;
  const service = Object.hasOwn(services, name) ? services[name] : undefined;
  if (service === undefined || others.length > 0) {
    throw new SetupProblem(`Usage: npm run dev -- <service>. The services are ${Object.keys(services).join(', ')}.`);
  }
  const connection = createConnectionFile(dataDirectory(root)).read();
  if (connection === null) throw new SetupProblem('Run `npm start` in another terminal first.');
  const ports = await findFreeServicePorts(readPorts(process.env));
  const env = buildServiceEnvironment(
    { ...process.env, INGEST_URL: process.env.INGEST_URL || connection.ingestUrl },
    toServiceSettings(connection.settings),
    ports,
  );
  progress.print(
    `  ${service.directory} will listen on ${buildServiceUrl(env, service.address, ports[service.address])}`,
  );
  progress.print('  Saving a source file restarts it. Press Ctrl-C to stop it.');
  const tsx = createRequire(join(root, 'package.json')).resolve('tsx/cli');
  const child = spawn(
    process.execPath,
    [tsx, 'watch', '--clear-screen=false', '--inspect=127.0.0.1:0', `services/${service.directory}/src/main.ts`],
    { cwd: root, env, stdio: 'inherit' },
  );
  // Ignore Ctrl-C, because the terminal also sends it to the child process. A second signal would kill the child before
  // it has shut down.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 0;
};
