import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readEnvironment } from '@millrace/runtime';

export interface BuiltDirectory {
  directory: string;
  /** Deletes the directory, unless other test files also use it. */
  remove(): Promise<void>;
}

/**
 * Builds a directory. In a run with a shared directory (`npm test`), it is built once for all test files. Otherwise,
 * the directory is temporary. If a different worker process is building the same directory, waits until the build is
 * complete.
 * @param name the name of the directory, which must identify its content
 */
export async function buildOnce(name: string, build: (directory: string) => Promise<unknown>): Promise<BuiltDirectory> {
  const { MILLRACE_TEST_DIRECTORY: ofRun } = readEnvironment();
  if (!ofRun) {
    const directory = await mkdtemp(join(tmpdir(), `millrace-${name}-`));
    await build(directory);
    return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
  }
  const shared = join(ofRun, 'built');
  await mkdir(shared, { recursive: true });
  const directory = join(shared, name);
  while (!existsSync(directory)) {
    const release = await lock(`${directory}.lock`);
    if (release === null) {
      await delay(50);
      continue;
    }
    try {
      if (!existsSync(directory)) await buildInto(directory, build);
    } finally {
      await release();
    }
  }
  return { directory, remove: async () => {} };
}

async function buildInto(directory: string, build: (directory: string) => Promise<unknown>): Promise<void> {
  const draft = await mkdtemp(`${directory}-`);
  await build(draft);
  await rename(draft, directory);
}

/**
 * Creates a lock file with the ID of this process. Ignores the lock of a process that has ended.
 * @returns a function that releases the lock, or null if a different process holds the lock
 */
async function lock(file: string): Promise<(() => Promise<void>) | null> {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' });
    return () => rm(file, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const holder = Number(await readFile(file, 'utf8').catch(() => ''));
  if (holder > 0 && !isAlive(holder)) await rm(file, { force: true });
  return null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
