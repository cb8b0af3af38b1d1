import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { testCacheDirectory } from './test-cache-directory.ts';

const run = promisify(execFile);
const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));

export interface ReleaseBuild {
  /** Abbreviated commit hash. */
  commit: string;
  directory: string;
  files: { gateway: string; consumer: string };
  command(words: readonly string[], settings: Record<string, string>): Promise<string>;
}

/**
 * Builds a different revision of the repository in the same way as a release, with the dependencies from its lockfile.
 * Caches the result.
 * @param ref a tag, a branch or a commit
 * @throws Error if git cannot find the revision, or if the build fails
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
    files: { gateway: file('ingest-gateway'), consumer: file('event-consumer') },
    command: async (words, settings) =>
      (await run(process.execPath, [file('millrace'), ...words], { env: settings })).stdout,
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
    // Rename the directory at the end, so that an interrupted build does not look complete.
    await run('cp', ['-R', join(source, 'dist'), `${directory}.part`]);
    await rename(`${directory}.part`, directory);
  } finally {
    await rm(source, { recursive: true, force: true });
  }
}
