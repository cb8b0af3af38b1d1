import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';

export interface BuiltDirectory {
  directory: string;
  /** Deletes the directory, unless other test files use it too. */
  remove(): Promise<void>;
}

/**
 * Builds something into a directory: once for all test files of a run with a directory (`npm test`), otherwise into a
 * temporary directory. Test files that start at the same time may both build it, but each sees a complete directory.
 *
 * @param name of the directory. The same name must mean the same content.
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
  if (!existsSync(directory)) {
    const draft = await mkdtemp(`${directory}-`);
    await build(draft);
    await rename(draft, directory).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      await rm(draft, { recursive: true });
    });
  }
  return { directory, remove: async () => {} };
}
