// Prepares a clone so that its TypeScript can run. Packages are not installed yet when this file runs, so it is plain
// JavaScript and imports only Node.js modules.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  appendFileSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createProgress } from './progress.mjs';

/**
 * Installs packages and generates the database client. Does nothing and prints nothing if both are up to date.
 * @param {{ isQuiet: boolean }} options isQuiet: whether to print only problems
 */
export async function prepare({ isQuiet }) {
  const root = fileURLToPath(new URL('../../../../', import.meta.url)).replace(/\/$/, '');
  const progress = createProgress({ isQuiet });
  const parts = [packageInstallation(root), clientGeneration(root)];
  if (parts.some((part) => !part.isDone())) {
    await whileLocked(join(root, '.millrace'), progress, async () => {
      // Skip work that was done by a process that held the lock before.
      for (const part of parts) if (!part.isDone()) await part.run(progress);
    });
  }
  return { root, progress };
}

const neededBytes = 2_000_000_000;
const unreachable =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|META_FETCH_FAIL|SELF_SIGNED_CERT\w*|UNABLE_TO_\w*CERT\w*/;
/** By default, npm retries for more than a minute, which is too long for a user who is waiting. */
const patience = { npm_config_fetch_retry_mintimeout: '2000', npm_config_fetch_retry_maxtimeout: '10000' };

/** Installs the locked packages with the pnpm version in package.json, unless they are already installed. */
function packageInstallation(root) {
  const stamp = createStamp(
    join(root, 'node_modules/.millrace-installed-from'),
    [join(root, 'pnpm-lock.yaml'), join(root, 'pnpm-workspace.yaml'), join(root, 'package.json')],
    [process.platform, process.arch],
  );
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const logFile = setupLog(root);
  return {
    isDone: () => stamp.isCurrent(),
    run: (progress) =>
      progress.step(
        `Installing packages with ${packageManager.replace('@', ' ')}`,
        async (tell) => {
          checkDisk(root);
          const { status, output } = await install(root, packageManager, { tell, logFile });
          if (status !== 0) throw setupProblem(explain(status, output));
          stamp.write();
        },
        { log: logFile },
      ),
  };
}

/** Returns the path of the log, which contains the output of all programs that have prepared this clone. */
export const setupLog = (root) => join(root, '.millrace/setup.log');

function install(root, packageManager, { tell, logFile }) {
  return withHomeDirectory((env) => {
    // `npm --silent test` sets these variables, which would hide the error of a failed installation.
    for (const name of ['npm_config_loglevel', 'npm_config_silent', 'NODE_OPTIONS']) delete env[name];
    return runQuietly(findNpx(), ['--yes', packageManager, 'install', '--frozen-lockfile', '--reporter=append-only'], {
      cwd: root,
      // With `CI`, pnpm does not ask any questions.
      env: { ...patience, ...env, CI: 'true' },
      logFile,
      onLine: (line) => {
        const counts = /^Progress: .*?downloaded (\d+), added (\d+)/.exec(line);
        if (counts) tell(`${counts[2]} packages, ${counts[1]} downloaded`);
      },
    });
  });
}

/** Finds npx next to the running Node.js, because the npx in the PATH may belong to an older version. */
function findNpx() {
  const sibling = join(dirname(process.execPath), 'npx');
  return existsSync(sibling) ? sibling : 'npx';
}

function explain(status, output) {
  const lines = output.split('\n').filter((line) => !/^(npm warn|npm notice|Progress:|Scope:|\s*$)/.test(line));
  const end = lines.slice(-10).join('\n');
  if (status === 127) return 'npx was not found. It is part of npm. Install Node.js with npm.';
  if (/ENOSPC/.test(output)) return 'Could not install the packages because the disk is full.';
  if (/EACCES|EPERM|EROFS/.test(output)) return `Could not write the packages to this directory:\n${end}`;
  const [reason] = unreachable.exec(output) ?? [];
  if (reason) {
    return (
      `Could not install missing packages, because the npm registry is unreachable (${reason}). ` +
      "Check your network, and npm's registry and proxy settings."
    );
  }
  return `Could not install the packages:\n${end}`;
}

function checkDisk(root) {
  const { bavail, bsize } = statfsSync(root);
  const free = bavail * bsize;
  if (free >= neededBytes) return;
  const gigabytes = (bytes) => (bytes / 1e9).toFixed(1);
  throw setupProblem(
    `The packages need ${gigabytes(neededBytes)} GB of disk space, but only ${gigabytes(free)} GB are free in ${root}.`,
  );
}

/** Generates the typed database client if the schema or the generator has changed. */
function clientGeneration(root) {
  const generated = join(root, 'packages/db/src/generated');
  const generator = join(root, 'packages/db/bin/generate.mjs');
  const stamp = createStamp(join(generated, '.made-from'), [
    join(root, 'prisma/schema.prisma'),
    generator,
    join(root, 'packages/db/package.json'),
  ]);
  return {
    isDone: () => stamp.isCurrent() && existsSync(join(generated, 'client.ts')),
    run: (progress) =>
      progress.step(
        'Generating the database client',
        async () => {
          const logFile = setupLog(root);
          const { status, output } = await runQuietly(process.execPath, [generator, '--quiet'], { cwd: root, logFile });
          if (status !== 0) throw setupProblem(`Could not generate the database client:\n${output.trim()}`);
          stamp.write();
        },
        { log: setupLog(root) },
      ),
  };
}

/**
 * Runs `work` with an environment whose home directory is writable, because npm and pnpm keep their caches there. If
 * HOME is empty, missing or read-only, uses a temporary directory instead.
 *
 * @template T
 * @param {(env: Record<string, string | undefined>) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withHomeDirectory(work) {
  const home = process.env.HOME || passwordFileHome();
  if (home && isWritable(home)) return work({ ...process.env, HOME: home });
  const temporary = mkdtempSync(join(tmpdir(), 'millrace-home-'));
  const env = { ...process.env, HOME: temporary };
  for (const name of ['XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'npm_config_cache']) {
    delete env[name];
  }
  try {
    return await work(env);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function passwordFileHome() {
  try {
    return userInfo().homedir;
  } catch {
    // The user ID is not in the password file, which is common in containers.
    return '';
  }
}

function isWritable(directory) {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Records the sources and facts from which a result was built, so that it is built again only after a change.
 * @param {string} file path of the record. It is inside the result, so that it is deleted together with the result.
 * @param {string[]} sources files from which the result is built
 * @param {string[]} facts anything else on which the result depends
 */
export function createStamp(file, sources, facts = []) {
  const current = () => {
    const hash = createHash('sha256').update(JSON.stringify(facts));
    for (const source of sources) hash.update(existsSync(source) ? readFileSync(source) : 'none');
    return hash.digest('hex');
  };
  return {
    isCurrent: () => existsSync(file) && readFileSync(file, 'utf8') === current(),
    write: () => writeFileSync(file, current()),
  };
}

/**
 * Runs `work` while no other command in the same clone runs it, because concurrent installations would break each
 * other's files.
 */
async function whileLocked(directory, progress, work) {
  const lock = join(directory, 'prepare.lock');
  for (let hasPrinted = false; !tryLock(directory, lock); hasPrinted = true) {
    if (!hasPrinted) progress.print('… Waiting for another command that is preparing this clone');
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Creates the lock as a link to a complete file, so that it is never seen without its content. */
function tryLock(directory, lock) {
  const own = `${lock}.${process.pid}`;
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(own, String(process.pid));
    linkSync(own, lock);
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) {
      throw setupProblem(`Cannot write to ${directory}. Use a clone that you own.`);
    }
    if (error.code !== 'EEXIST') throw error;
    if (!isHeld(lock)) rmSync(lock, { force: true });
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

function isHeld(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Runs a program and returns the end of its output.
 *
 * @typedef {object} RunOptions @property {string} [cwd] @property {Record<string, string | undefined>} [env] @property
 * {string} [logFile] file to which the complete output is appended @property {(line: string) => void} [onLine]
 * @param {RunOptions} options
 * @returns {Promise<{ status: number, output: string }>} the exit code, 127 if the program does not exist
 */
export function runQuietly(command, commandArguments, { cwd, env, logFile, onLine } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, commandArguments, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-20_000);
        if (logFile) appendFileSync(logFile, text);
        for (const line of text.split('\n')) if (line.trim()) onLine?.(line.trim());
      });
    }
    child.once('error', (error) => resolve({ status: error.code === 'ENOENT' ? 127 : 126, output: error.message }));
    child.once('close', (status) => resolve({ status: status ?? 1, output }));
  });
}

/** Creates an error that the user can fix, to show without a stack trace. In TypeScript, use `SetupProblem`. */
export function setupProblem(message) {
  return Object.assign(new Error(message), { name: 'SetupProblem' });
}
