import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { testCacheDirectory } from '@millrace/testing';
import type { ServiceFiles } from '../chaos-services.ts';

const run = promisify(execFile);
const repositoryRoot = fileURLToPath(new URL('../../../../../', import.meta.url));

export interface ReleaseBuild {
  /** The commit, short. */
  commit: string;
  /** Of its programs, with what they need. */
  directory: string;
  files: ServiceFiles;
  /** Runs its `millrace` command and gives back what it printed. */
  command(programArguments: readonly string[], settings: Record<string, string>): Promise<string>;
}

/**
 * Builds another state of the repository as its users do, with the packages of its own lockfile, and keeps it in the cache.
 * @param ref anything git knows: a tag, a branch, a commit.
 * @throws Error when git does not know it, or it cannot be built.
 */
export async function buildRelease(ref: string): Promise<ReleaseBuild> {
  const { stdout } = await run('git', ['rev-parse', '--verify', `${ref}^{commit}`], { cwd: repositoryRoot });
  const commit = stdout.trim();
  const directory = join(testCacheDirectory(), 'releases', commit);
  if (!existsSync(directory)) await build(commit, directory);
  const file = (name: string) => join(directory, `${name}.mjs`);
  return {
    commit: commit.slice(0, 9),
    directory,
    files: { gateway: file('ingest-gateway'), consumer: file('event-consumer'), api: file('management-api') },
    async command(programArguments, settings) {
      const answer = await run(process.execPath, [file('millrace'), ...programArguments], { env: settings });
      return answer.stdout;
    },
  };
}

async function build(commit: string, directory: string): Promise<void> {
  const source = await mkdtemp(join(tmpdir(), 'millrace-release-'));
  try {
    const archive = join(source, 'source.tar');
    await run('git', ['archive', '--output', archive, commit], { cwd: repositoryRoot });
    await run('tar', ['-xf', archive, '-C', source]);
    await run(process.execPath, ['packages/stack/bin/build.mjs'], { cwd: source, maxBuffer: 16 * 1024 * 1024 });
    await mkdir(join(directory, '..'), { recursive: true });
    // Built beside and moved: an interrupted build is not taken for a whole one.
    await run('cp', ['-R', join(source, 'dist'), `${directory}.part`]);
    await rename(`${directory}.part`, directory);
  } finally {
    await rm(source, { recursive: true, force: true });
  }
}
