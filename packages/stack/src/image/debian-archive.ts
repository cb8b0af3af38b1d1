import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../process/run-program.ts';
import { SetupProblem } from '../setup-problem.ts';
import type { Platform } from './platform.ts';

/** Debian packages of one platform, from the archives this machine's apt knows, without installing anything. */
export interface DebianArchive {
  /** What `apt-cache show` says of the newest one. */
  show(name: string): Promise<string>;
  /** Unpacks one package; see `readUnpacked`. @returns its folder, which goes with the archive */
  unpack(name: string, version: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * Lists of its own, so that the machine's stay as they are, nobody has to be root, and packages for another processor can
 * be had.
 * @throws SetupProblem where there is no apt, or it cannot reach an archive
 */
export async function openDebianArchive({ architecture }: Platform): Promise<DebianArchive> {
  if (!existsSync('/usr/bin/apt-get'))
    throw new SetupProblem('Debian packages are fetched with apt-get, which is not here.');
  const directory = await mkdtemp(join(tmpdir(), 'millrace-debian-'));
  const settings = Object.entries({
    'Dir::State': directory,
    'Dir::State::Lists': join(directory, 'lists'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(directory, 'cache'),
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'Acquire::Languages': 'none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    'APT::Sandbox::User': '',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);

  async function apt(program: string, ...words: string[]): Promise<string> {
    const { status, output } = await runProgram(program, [...settings, ...words], { cwd: directory });
    if (status === 0) return output;
    throw new SetupProblem(`${program} ${words.join(' ')}:\n${output.trim().split('\n').slice(-5).join('\n')}`);
  }

  await mkdir(join(directory, 'lists/partial'), { recursive: true });
  await mkdir(join(directory, 'cache/archives/partial'), { recursive: true });
  await apt('apt-get', '-q', 'update');
  return {
    show: (name) => apt('apt-cache', 'show', '--no-all-versions', name),
    async unpack(name, version) {
      await apt('apt-get', '-q', 'download', `${name}=${version}`);
      const archive = (await readdir(directory)).find(
        (found) => found.startsWith(`${name}_`) && found.endsWith('.deb'),
      );
      const target = join(directory, name);
      const { status, output } = await runProgram('dpkg-deb', ['-x', join(directory, String(archive)), target]);
      if (status !== 0) throw new SetupProblem(`${name} could not be unpacked: ${output.trim()}`);
      return target;
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A file of an unpacked package. Before Debian 13, packages of the C library still write `/lib` for `/usr/lib`. */
export async function readUnpacked(folder: string, path: string): Promise<Buffer | null> {
  const found = [path, path.replace(/^usr\//, '')].map((one) => join(folder, one)).find(existsSync);
  return found ? readFile(found) : null;
}
