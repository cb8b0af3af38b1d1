import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { Terminal } from './output.ts';

/** What `npm start` writes into `.millrace/connection.json` while its system runs. */
interface RunningSystem {
  apiUrl: string;
  ingestUrl: string;
  personalApiKey: string;
  projectApiKey: string;
  /** What its services were started with: the database, the event log, Redis, the key of stored secrets. */
  settings: Record<string, string>;
}

/** Whoever says one of these means another installation than the one that runs here. */
const storageSettings = ['DATABASE_URL', 'DATABASE_URL_FILE', 'EVENT_LOG', 'KAFKA_BROKERS', 'REDIS_URL'];

/**
 * Where nobody says which installation is meant, a command is for the system that `npm start` runs in this folder, or above
 * it in the same repository. An address is never completed with the key of another installation.
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

/** The nearest one up to the root of the repository; outside of a repository in the folder itself only. */
function findConnectionFile(directory: string, { MILLRACE_DATA_DIR: chosen }: Terminal['env']): string | undefined {
  if (chosen) return own(join(chosen, 'connection.json'));
  const folders = [directory];
  for (let folder = directory; !existsSync(join(folder, '.git')); ) {
    const above = dirname(folder);
    if (above === folder) return own(join(directory, '.millrace/connection.json'));
    folders.push(above);
    folder = above;
  }
  return folders.map((folder) => own(join(folder, '.millrace/connection.json'))).find((path) => path !== undefined);
}

/** A file that another user has put there is not believed. */
function own(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  const user = process.getuid?.();
  return found?.isFile() && (user === undefined || user === 0 || found.uid === user) ? path : undefined;
}
