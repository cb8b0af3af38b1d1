import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { cacheDirectory } from '../process/cache-directory.ts';
import { runProgram } from '../process/run-program.ts';
import { SetupProblem } from '../setup-problem.ts';
import type { NpmPackage } from './base-lock.ts';

/**
 * The unpacked folder of a package of the npm registry, whatever platform it is for. Fetched by npm, with its settings, the
 * first time, compared with the hash that is pinned, and kept for all clones.
 */
export async function npmPackage({ name, version, integrity }: NpmPackage): Promise<string> {
  const hash = createHash('sha256').update(integrity).digest('hex').slice(0, 16);
  const kept = join(cacheDirectory(), 'npm', `${name.replace('/', '+')}-${version}-${hash}`);
  if (existsSync(kept)) return join(kept, 'package');
  await mkdir(join(kept, '..'), { recursive: true });
  const temporary = await mkdtemp(`${kept}-fetching-`);
  try {
    const archive = await fetchArchive(`${name}@${version}`, temporary);
    const actual = await sha512Of(archive);
    if (actual !== integrity) {
      throw new SetupProblem(`${name}@${version} is not what is pinned: ${actual} instead of ${integrity}`);
    }
    await runTar(archive, temporary);
    await rm(archive);
    // The name appears with everything in it; another process may have been quicker.
    await rename(temporary, kept).catch((error) => {
      if (!existsSync(kept)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return join(kept, 'package');
}

async function fetchArchive(specification: string, directory: string): Promise<string> {
  const { status, output } = await runProgram('npm', ['pack', '--silent', specification], { cwd: directory });
  const [archive] = (await readdir(directory)).filter((file) => file.endsWith('.tgz'));
  if (status !== 0 || !archive) {
    throw new SetupProblem(`npm could not fetch ${specification}:\n${output.trim().split('\n').slice(-5).join('\n')}`);
  }
  return join(directory, archive);
}

async function sha512Of(file: string): Promise<string> {
  const hash = createHash('sha512');
  await pipeline(createReadStream(file), hash);
  return `sha512-${hash.digest('base64')}`;
}

async function runTar(archive: string, directory: string): Promise<void> {
  const { status, output } = await runProgram('tar', ['-xzf', archive, '-C', directory]);
  if (status !== 0) throw new SetupProblem(`${archive} could not be unpacked: ${output.trim()}`);
}
