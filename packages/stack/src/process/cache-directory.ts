import { accessSync, constants, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { SetupProblem } from '../setup-problem.ts';

/**
 * Where what was fetched or unpacked once is kept for all clones of this user. Root's lies where every user can read it,
 * because root's servers run as somebody else. Tests are told by the run they belong to (MILLRACE_CACHE_DIR).
 */
export function cacheDirectory(): string {
  const { MILLRACE_CACHE_DIR: ofRun } = process.env;
  if (ofRun) return ofRun;
  const isRoot = process.getuid?.() === 0;
  const candidates = isRoot ? ['/var/cache/millrace'] : userCaches();
  const last = join(tmpdir(), `millrace-cache-${process.getuid?.() ?? 'user'}`);
  for (const directory of [...candidates, last]) {
    if (canUse(directory)) return directory;
  }
  throw new SetupProblem(`No directory can be written to for what is kept between runs; ${last} was the last tried.`);
}

function userCaches(): string[] {
  const { XDG_CACHE_HOME, HOME } = process.env;
  const home = HOME || passwordFileHome();
  return [XDG_CACHE_HOME, home && join(home, '.cache')].flatMap((parent) => (parent ? [join(parent, 'millrace')] : []));
}

function passwordFileHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return '';
  }
}

/** Only a directory of our own is used: in a shared place somebody else could have prepared one, with programs in it. */
function canUse(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    accessSync(directory, constants.W_OK | constants.X_OK);
    const found = lstatSync(directory);
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

const underWay = new Map<string, Promise<string>>();

/**
 * A directory of the cache that is made once and kept; its name holds the version of what is in it.
 * @param make fills a temporary directory. It gets the final name only when everything is in it.
 */
export function keepInCache(name: string, make: (directory: string) => Promise<void>): Promise<string> {
  const directory = join(cacheDirectory(), name);
  if (existsSync(directory)) return Promise.resolve(directory);
  let made = underWay.get(directory);
  if (made === undefined) {
    made = fill(directory, make).finally(() => underWay.delete(directory));
    underWay.set(directory, made);
  }
  return made;
}

async function fill(directory: string, make: (directory: string) => Promise<void>): Promise<string> {
  await mkdir(dirname(directory), { recursive: true });
  const temporary = await mkdtemp(`${directory}-making-`);
  try {
    await make(temporary);
    // Others may read what root has made.
    await chmod(temporary, 0o755);
    // Another process may have been quicker.
    await rename(temporary, directory).catch((error) => {
      if (!existsSync(directory)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return directory;
}
