import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SetupProblem } from '@millrace/stack/command';
import { findOrCreateCacheDirectory } from '@millrace/stack/fetched-programs';
import { runProgram } from '@millrace/stack/run-program';
import { runOrExplain } from './run-or-explain.ts';

/**
 * Returns the directory of unpacked Debian packages. Does not install the packages, so the machine does not change.
 * @param name the name of the directory in the cache
 * @throws SetupProblem if apt is missing, or with apt's output
 */
export function readDebianFiles(name: string, packages: readonly string[]): Promise<string> {
  const mark = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 8);
  return findOrCreateCacheDirectory(`cluster/debian-${name}-${mark}`, async (directory) => {
    if (!existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/dpkg')) {
      throw new SetupProblem(`${packages.join(', ')} come from Debian's packages, and this is no Debian.`);
    }
    const archives = join(directory, 'archives');
    await mkdir(archives);
    await download(packages, archives);
    for (const file of await readdir(archives)) {
      await runOrExplain('dpkg', ['-x', join(archives, file), directory]);
    }
    await rm(archives, { recursive: true });
  });
}

/** Downloads packages. If a listed version no longer exists, updates the package list first, which requires root. */
async function download(packages: readonly string[], directory: string): Promise<void> {
  const { status } = await runProgram('apt-get', ['download', '-q', ...packages], { cwd: directory });
  if (status === 0) return;
  if (process.getuid?.() === 0) await runOrExplain('apt-get', ['update', '-q']);
  await runOrExplain('apt-get', ['download', '-q', ...packages], { cwd: directory });
}
