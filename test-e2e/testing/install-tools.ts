import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { testCacheDirectory } from './test-cache-directory.ts';

const run = promisify(execFile);
const options = { timeout: 300_000, maxBuffer: 64 << 20 };
const twoWeeksMs = 14 * 86_400_000;

/**
 * A virtual environment for exactly these requirements.
 * @returns the path of its interpreter. @throws Error with the end of what the tool said, e.g. when Python is missing.
 */
export async function installPythonTool(name: string, requirementsFile: URL): Promise<string> {
  const requirements = fileURLToPath(requirementsFile);
  const directory = await installOnce(name, await readFile(requirements, 'utf8'), async (draft) => {
    await run('python3', ['-m', 'venv', draft], options);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    await run(join(draft, 'bin/python'), install, options);
  });
  // Only the scripts of an environment know where it is; its interpreter is started by path.
  return join(directory, 'bin/python');
}

/**
 * Packages of npm that are too large for the lockfile of everybody, without what they would run when they are installed.
 * @returns their `node_modules`. @throws Error with the end of what npm said.
 */
export async function installNpmPackages(name: string, packages: readonly string[]): Promise<string> {
  const directory = await installOnce(name, packages.join('\n'), async (draft) => {
    await run(
      'npm',
      ['install', '--prefix', draft, '--ignore-scripts', '--no-audit', '--no-fund', ...packages],
      options,
    );
  });
  return join(directory, 'node_modules');
}

/** The engine of ClickHouse, for `startClickHouse`. @returns its `node_modules` */
export const installClickHouse = () => installNpmPackages('chdb', ['chdb@3.4.0']);

/** The same for a test. 550 MB: nobody gets it with the packages of the repository. */
export const clickHouseOrSkip = () => orSkip('ClickHouse', installClickHouse);

/**
 * A directory per user and content, filled the first time that it is needed.
 * Directories of other contents are removed when they were not used for two weeks.
 */
export async function installOnce(
  name: string,
  content: string,
  install: (draft: string) => Promise<unknown>,
): Promise<string> {
  const cache = join(testCacheDirectory(), name);
  const installed = join(cache, createHash('sha256').update(content).digest('hex').slice(0, 16));
  if (existsSync(installed)) {
    await utimes(installed, new Date(), new Date());
    return installed;
  }
  await mkdir(cache, { recursive: true });
  const draft = `${installed}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  try {
    await install(draft);
    // Another test file may have been quicker.
    await rename(draft, installed).catch((error) => {
      if (!existsSync(installed)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await removeOld(cache);
  return installed;
}

async function removeOld(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const directory = join(cache, name);
    // Another test file may have removed it.
    const found = await stat(directory).catch(() => null);
    if (found && Date.now() - found.mtimeMs > twoWeeksMs) await rm(directory, { recursive: true, force: true });
  }
}

/** What cannot be had is skipped, and said: a skipped test fails in CI. */
export async function orSkip<T>(what: string, install: () => Promise<T>): Promise<T | null> {
  try {
    return await install();
  } catch (error) {
    process.stdout.write(
      `\n! ${what} is skipped: ${String(error instanceof Error ? error.message : error).slice(-500)}\n`,
    );
    return null;
  }
}
