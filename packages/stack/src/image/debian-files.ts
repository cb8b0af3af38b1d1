// Files of Debian's packages, fetched through apt and kept; nothing is installed.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDirectory } from '../process/cache-directory.ts';
import { runProgram } from '../process/run-program.ts';
import { SetupProblem } from '../setup-problem.ts';
import type { DebianPackage } from './locks.ts';
import type { Platform } from './platform.ts';

export const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

/**
 * The files that are pinned, by path. Each is what its hash says, so it does not matter where it comes from: the user's
 * cache, this machine, where the same package is installed, or else Debian's archive.
 */
export async function debianFiles(
  packages: readonly DebianPackage[],
  platform: Platform,
): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const missing = new Set<DebianPackage>();
  for (const onePackage of packages) {
    for (const [path, hash] of Object.entries(onePackage.files)) {
      const content = (await readIf(kept(hash), hash)) ?? (await readIf(`/${path}`, hash));
      if (content) files.set(path, content);
      else missing.add(onePackage);
    }
  }
  if (missing.size > 0) {
    for (const [path, content] of await fetchFiles([...missing], platform)) files.set(path, content);
  }
  for (const content of files.values()) await keep(content);
  return files;
}

async function fetchFiles(packages: readonly DebianPackage[], platform: Platform): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const archive = await openDebianArchive(platform);
  try {
    for (const { name, version, files: pinned } of packages) {
      const folder = await archive.unpack(name, version).catch((error: unknown) => {
        throw new SetupProblem(
          `${name} ${version}, which ${platform.architecture} is pinned to, is not available. Archives keep the newest version only: ` +
            '`npm run image -- --update-base` pins that one, and apt can be pointed at an archive of the past.\n' +
            `${error instanceof Error ? error.message : String(error)}`,
        );
      });
      for (const [path, hash] of Object.entries(pinned)) {
        const content = await readUnpacked(folder, path);
        if (!content || sha256(content) !== hash)
          throw new SetupProblem(`${name} ${version}: ${path} is not what is pinned`);
        files.set(path, content);
      }
    }
    return files;
  } finally {
    await archive.close();
  }
}

const kept = (hash: string) => join(cacheDirectory(), 'debian', hash);

async function keep(content: Buffer): Promise<void> {
  const target = kept(sha256(content));
  if (await readIf(target, sha256(content))) return;
  await mkdir(join(target, '..'), { recursive: true });
  await writeFile(`${target}.${process.pid}`, content);
  await rename(`${target}.${process.pid}`, target);
}

async function readIf(path: string, hash: string): Promise<Buffer | null> {
  const content = await readFile(path).catch(() => null);
  return content && sha256(content) === hash ? content : null;
}

/** Debian packages of one platform, from the archives this machine's apt knows, without installing anything. */
interface DebianArchive {
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
