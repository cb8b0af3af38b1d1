// Connects commands to the system that `npm start` runs, unless a different installation is configured.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { Terminal } from './output.ts';

/** The content of `.millrace/connection.json`, which `npm start` writes while the system is running. */
interface RunningSystem {
  apiUrl: string;
  ingestUrl: string;
  personalApiKey: string;
  projectApiKey: string;
  /** The service settings: the database, the event log, Redis, and the key for stored secrets. */
  settings: Record<string, string>;
}

/** If one of these variables is set, commands use the installation that the variable describes. */
const storageSettings = ['DATABASE_URL', 'DATABASE_URL_FILE', 'EVENT_LOG', 'KAFKA_BROKERS', 'REDIS_URL'];

/**
 * Uses the system that `npm start` runs in this directory, or in a parent directory in the same repository, unless a
 * different installation is configured. Never combines the URL of one installation with the key of another.
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
 * Looks for the nearest file, walking up to the repository root. Outside a repository, looks only in the current
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

/** Returns the path, or undefined if the file belongs to a different user, who may have planted it. */
function ifOwnFile(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  const user = process.getuid?.();
  return found?.isFile() && (user === undefined || user === 0 || found.uid === user) ? path : undefined;
}
