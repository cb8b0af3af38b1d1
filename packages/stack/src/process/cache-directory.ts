import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { SetupProblem } from '../setup-problem.ts';

/**
 * Where what was fetched or unpacked once is kept for all clones of this user. Root's lies where every user can read it,
 * because root's servers run as somebody else.
 */
export function cacheDirectory(): string {
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
