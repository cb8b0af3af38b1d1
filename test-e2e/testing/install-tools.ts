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
 * Creates a virtual environment with exactly these requirements.
 * @param pipOptions the additional options of `pip install`
 * @returns the path of the Python interpreter
 * @throws Error with the end of the tool's output, for example if Python is missing
 */
export async function installPythonTool(
  name: string,
  requirementsFile: URL,
  pipOptions: readonly string[] = [],
): Promise<string> {
  const requirements = fileURLToPath(requirementsFile);
  const directory = await installOnce(name, await readFile(requirements, 'utf8'), async (draft) => {
    await run('python3', ['-m', 'venv', draft], options);
    const install = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '-r',
      requirements,
      ...pipOptions,
    ];
    await run(join(draft, 'bin/python'), install, options);
  });
  // The virtual environment can be moved, because only its scripts contain its path, and they are not used.
  return join(directory, 'bin/python');
}

/**
 * Installs npm packages that are too large for the repository's lockfile, without running install scripts.
 * @returns the path of their `node_modules`
 * @throws Error with the end of npm's output
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

/** Installs the ClickHouse engine for `startClickHouse`. @returns the path of its `node_modules` */
export const installClickHouse = () => installNpmPackages('chdb', ['chdb@3.4.0']);

/**
 * Like `installClickHouse`, but returns null if the installation fails. The package is not a dependency of the
 * repository, because it takes 550 MB.
 */
export const installClickHouseOrNull = () => installOrNull('ClickHouse', installClickHouse);

/**
 * Returns a directory for this user and the given content, and fills it on first use. Deletes directories with other
 * content that have not been used for two weeks.
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
    // A different test file may have finished the installation first.
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
    // A different test file may have deleted the directory in the meantime.
    const found = await stat(directory).catch(() => null);
    if (found && Date.now() - found.mtimeMs > twoWeeksMs) await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Returns the result of an installation. If the installation fails, prints the reason and returns null. The tests are
 * then skipped, which fails the build in CI.
 */
export async function installOrNull<T>(what: string, install: () => Promise<T>): Promise<T | null> {
  try {
    return await install();
  } catch (error) {
    process.stdout.write(
      `\n! ${what} is skipped: ${String(error instanceof Error ? error.message : error).slice(-500)}\n`,
    );
    return null;
  }
}
