// Connects commands to the system that `npm start` runs, if no other installation is configured.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { Terminal } from './output.ts';

/** Content of `.millrace/connection.json`, which `npm start` writes while its system runs. */
interface RunningSystem {
  apiUrl: string;
  ingestUrl: string;
  personalApiKey: string;
  projectApiKey: string;
  /** Settings of its services: the database, the event log, Redis and the key for stored secrets. */
  settings: Record<string, string>;
}

/** If one of these is set, the command is for another installation. */
const storageSettings = ['DATABASE_URL', 'DATABASE_URL_FILE', 'EVENT_LOG', 'KAFKA_BROKERS', 'REDIS_URL'];

/**
 * Unless another installation is configured, uses the system that `npm start` runs in this directory or above it in the
 * same repository. An address is never combined with the key of another installation.
 */
export function useRunningSystem(command: Command, terminal: Terminal): void {
  const path = terminal.directory === undefined ? undefined : findConnectionFile(terminal.directory, terminal.env);
  if (path === undefined) return;
  const { env } = terminal;
  const found = JSON.parse(readFileSync(path, 'utf8')) as RunningSystem;
  const options = command.optsWithGlobals<Record<string, unknown>>();
  const takes = (option: string) => command.options.some(({ long }) => long === option);
  if (takes('--api-url')) {
    if (options.apiUrl || env.API_URL) return;
    Object.assign(env, { API_URL: found.apiUrl, PERSONAL_API_KEY: env.PERSONAL_API_KEY || found.personalApiKey });
  } else if (takes('--host')) {
    if (options.host || env.INGEST_URL) return;
    Object.assign(env, { INGEST_URL: found.ingestUrl, PROJECT_API_KEY: env.PROJECT_API_KEY || found.projectApiKey });
  } else {
    if (options.databaseUrl || storageSettings.some((name) => env[name])) return;
    Object.assign(env, found.settings);
  }
  terminal.err.write(`Using the system started by npm start (${path}).\n`);
}

/**
 * Looks for the nearest file, walking up to the root of the repository. Outside a repository, looks only in the current
 * directory.
 */
function findConnectionFile(directory: string, { MILLRACE_DATA_DIR: chosen }: Terminal['env']): string | undefined {
  if (chosen) return ifOwnFile(join(chosen, 'connection.json'));
  const folders = [directory];
  for (let folder = directory; !existsSync(join(folder, '.git')); ) {
    const above = dirname(folder);
    if (above === folder) return ifOwnFile(join(directory, '.millrace/connection.json'));
    folders.push(above);
    folder = above;
  }
  return folders
    .map((folder) => ifOwnFile(join(folder, '.millrace/connection.json')))
    .find((path) => path !== undefined);
}

/** Ignores a file that another user has put there. */
function ifOwnFile(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  const user = process.getuid?.();
  return found?.isFile() && (user === undefined || user === 0 || found.uid === user) ? path : undefined;
}
