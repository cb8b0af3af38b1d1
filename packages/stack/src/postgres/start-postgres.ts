import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../process/free-port.ts';
import { endProcess, stopRecordedProcess } from '../process/process-record.ts';
import type { Reaper } from '../process/reaper.ts';
import { runProgram } from '../process/run-program.ts';
import {
  type RunningServer,
  type ServerProcess,
  startOnFreePort,
  startServerProcess,
} from '../process/server-process.ts';
import { unprivilegedUser } from '../process/unprivileged-user.ts';
import { SetupProblem } from '../setup-problem.ts';
import { type PostgresFiles, postgresFiles } from './postgres-files.ts';
import { type PostgresPrograms, postgresPrograms } from './postgres-programs.ts';

export interface PostgresOptions {
  /** Where everything of it is kept, e.g. `.millrace/postgres`. */
  directory: string;
  /** Taken when it is free, else the next free one. 0 takes any. */
  preferredPort: number;
  /** The address it listens on; loopback when left out. */
  host?: string;
  /** Settings of postgresql.conf, e.g. `{ fsync: 'off' }` for data that need not survive a crash. */
  settings?: Record<string, string>;
  reaper: Reaper;
}

/** PostgreSQL from its npm package, with a password of this directory's own. */
export async function startPostgres(options: PostgresOptions): Promise<RunningServer> {
  const user = unprivilegedUser();
  const programs = await postgresPrograms(user);
  const files = postgresFiles(options.directory, user);
  await stopLeftOver(options.directory, files);
  const password = readPassword(options.directory);
  if (!existsSync(join(files.data, 'PG_VERSION'))) {
    await initialize(programs, files, { password, isThrowaway: options.settings?.fsync === 'off' });
  }
  return startOnFreePort('PostgreSQL', 60_000, async () => {
    const port = await freePort(options.preferredPort);
    const server = launch(options, { programs, files, port });
    const url = `postgresql://postgres:${password}@${options.host ?? '127.0.0.1'}:${port}/postgres`;
    return { server, address: url, isReady: () => answers(url) };
  });
}

function launch(
  { directory, host, settings = {}, reaper }: PostgresOptions,
  { programs, files, port }: { programs: PostgresPrograms; files: PostgresFiles; port: number },
): ServerProcess {
  const all = {
    port: String(port),
    listen_addresses: host ?? '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    // Many consumers and the log's own readers work at once; the default 128 MB is for machines of long ago.
    shared_buffers: '256MB',
    ...(host === undefined ? {} : { hba_file: allowEverybody(directory) }),
    ...settings,
  };
  return startServerProcess({
    name: 'PostgreSQL',
    command: programs.postgres,
    arguments: ['-D', files.data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    marker: files.data,
    user: files.user,
    logFile: join(directory, 'postgres.log'),
    recordFile: join(directory, 'process.json'),
    reaper,
    // Ends open sessions and writes everything down.
    stopSignal: 'SIGINT',
    stopPatienceMs: 60_000,
  });
}

/** Whoever can reach it may come, with the password; its own file has only loopback in it. */
function allowEverybody(directory: string): string {
  const file = join(directory, 'pg_hba.conf');
  writeFileSync(file, 'host all all all scram-sha-256\n', { mode: 0o644 });
  return file;
}

async function initialize(
  programs: PostgresPrograms,
  { data, user }: PostgresFiles,
  { password, isThrowaway }: { password: string; isThrowaway: boolean },
): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'millrace-initdb-'));
  const passwordFile = join(temporary, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) {
    chmodSync(temporary, 0o711);
    chownSync(passwordFile, user.uid, user.gid);
  }
  try {
    const settings = ['-U', 'postgres', `--pwfile=${passwordFile}`, '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C'];
    const { status, output } = await runProgram(
      programs.initdb,
      ['-D', data, ...settings, ...(isThrowaway ? ['--no-sync'] : [])],
      { cwd: '/', ...(user ? { uid: user.uid, gid: user.gid } : {}) },
    );
    if (status !== 0) throw new SetupProblem(`The database could not be created in ${data}:\n${output.trim()}`);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** An earlier run that was killed may have left its server: it is asked to end, so that nobody else holds the files. */
async function stopLeftOver(directory: string, { data }: PostgresFiles): Promise<void> {
  await stopRecordedProcess(join(directory, 'process.json'), 'SIGINT', 60_000);
  const pidFile = join(data, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n', 1)[0]);
  await endProcess({ pid, marker: data }, 'SIGINT', 60_000);
}

function readPassword(directory: string): string {
  const file = join(directory, 'password');
  if (!existsSync(file)) writeFileSync(file, randomBytes(18).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch (error) {
    // A password that does not fit will not fit later either.
    if ((error as { code?: string }).code === '28P01') {
      throw new SetupProblem(
        'PostgreSQL refuses the password in .millrace: its data and its password file do not belong together.',
      );
    }
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
