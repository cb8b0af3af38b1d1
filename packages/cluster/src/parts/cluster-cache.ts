import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { environment } from '@millrace/runtime';
import { cacheDirectory } from '@millrace/stack/src/process/cache-directory.ts';

/** Where the parts of a cluster are kept, for all clones of this user: tests are told by `npm test`. */
function clusterCache(): string {
  return join(environment().MILLRACE_CACHE_DIR || cacheDirectory(), 'cluster');
}

const underWay = new Map<string, Promise<string>>();

/**
 * A directory that is made once and kept; its name holds the version of what is in it.
 * @param make fills a temporary directory. It gets the final name only when everything is in it.
 */
export function keepInCache(name: string, make: (directory: string) => Promise<void>): Promise<string> {
  const directory = join(clusterCache(), name);
  if (existsSync(directory)) return Promise.resolve(directory);
  let made = underWay.get(directory);
  if (made === undefined) {
    made = fill(directory, make).finally(() => underWay.delete(directory));
    underWay.set(directory, made);
  }
  return made;
}

async function fill(directory: string, make: (directory: string) => Promise<void>): Promise<string> {
  await mkdir(clusterCache(), { recursive: true });
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
