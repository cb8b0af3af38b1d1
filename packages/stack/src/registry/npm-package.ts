import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { keepInCache } from '../process/cache-directory.ts';
import { runProgram } from '../process/run-program.ts';
import { SetupProblem } from '../setup-problem.ts';

export interface NpmPackage {
  name: string;
  version: string;
  /** As in a lockfile: `sha512-…`. */
  integrity: string;
}

/**
 * The unpacked folder of a package of the npm registry, whatever platform it is for. Fetched by npm, with its settings, the
 * first time, compared with the hash that is pinned, and kept for all clones.
 */
export async function npmPackage({ name, version, integrity }: NpmPackage): Promise<string> {
  const hash = createHash('sha256').update(integrity).digest('hex').slice(0, 16);
  const directory = await keepInCache(`npm/${name.replace('/', '+')}-${version}-${hash}`, async (temporary) => {
    const archive = await fetchArchive(`${name}@${version}`, temporary);
    const actual = await sha512Of(archive);
    if (actual !== integrity) {
      throw new SetupProblem(`${name}@${version} is not what is pinned: ${actual} instead of ${integrity}`);
    }
    await runTar(archive, temporary);
    await rm(archive);
  });
  return join(directory, 'package');
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
