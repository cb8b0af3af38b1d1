import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../process/run-program.ts';
import { type NpmPackage, npmPackage } from '../registry/npm-package.ts';
import { SetupProblem } from '../setup-problem.ts';
import { openDebianArchive, readUnpacked, sha256 } from './debian-files.ts';
import { carriedLayer } from './layers.ts';
import { type Base, type BaseLock, baseLockFile, type DebianPackage, readLockfile } from './locks.ts';
import { readElf } from './missing-libraries.ts';
import { type Platform, parsePlatforms } from './platform.ts';

/** The line of Node with long-term support that the image is on. */
const nodeLine = 24;

/** The release whose libraries are taken: this machine's apt has to know it. The last holds the licence of two others. */
const debianRelease = '12';
const debianNames = ['libc6', 'libgcc-s1', 'libstdc++6', 'gcc-12-base'];

/** Pins the newest Node of its line and the newest libraries, for all platforms. */
export async function updateBase(root: string): Promise<BaseLock> {
  const platforms = parsePlatforms('linux/amd64,linux/arm64');
  const version = await newestNode(platforms);
  const bases = await Promise.all(
    platforms.map(async (platform): Promise<[string, Base]> => {
      const node = await pinned(nodeName(platform), version);
      return [platform.architecture, { node, debian: await librariesFor(root, node, platform) }];
    }),
  );
  const lock = { debianRelease, ...Object.fromEntries(bases) } as BaseLock;
  await writeFile(join(root, baseLockFile), `${JSON.stringify(lock, null, 2)}\n`);
  return lock;
}

const nodeName = ({ cpu }: Platform) => `node-linux-${cpu}`;

/** A release reaches the platforms on different days: the newest that all have. */
async function newestNode(platforms: readonly Platform[]): Promise<string> {
  const [first = [], ...others] = await Promise.all(
    platforms.map(async (platform) => (await ask(nodeName(platform), 'versions')) as string[]),
  );
  const ofLine = first.filter((version) => version.startsWith(`${nodeLine}.`));
  const common = ofLine.filter((version) => others.every((versions) => versions.includes(version)));
  const newest = common.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  if (!newest) throw new SetupProblem(`The registry has no Node ${nodeLine} for all platforms.`);
  return newest;
}

async function pinned(name: string, version: string): Promise<NpmPackage> {
  return { name, version, integrity: String(await ask(`${name}@${version}`, 'dist.integrity')) };
}

async function ask(specification: string, field: string): Promise<unknown> {
  const { status, output } = await runProgram('npm', ['view', '--json', '--loglevel=silent', specification, field]);
  if (status !== 0) throw new SetupProblem(`npm could not tell ${field} of ${specification}: ${output.trim()}`);
  return JSON.parse(output);
}

/** What Node and the carried add-ons ask for, what those ask for, and so on; and the licences. */
async function librariesFor(root: string, node: NpmPackage, platform: Platform): Promise<DebianPackage[]> {
  const archive = await openDebianArchive(platform);
  try {
    const unpacked: (DebianPackage & { folder: string })[] = [];
    for (const name of debianNames) {
      const described = await archive.show(name);
      const version = fieldOf(described, 'Version');
      const source = fieldOf(described, 'Source') || name;
      unpacked.push({ name, version, source, files: {}, folder: await archive.unpack(name, version) });
    }
    const asked = await neededByPrograms(root, node, platform);
    for (const library of asked) {
      const path = `usr/lib/${platform.triplet}/${library}`;
      const content = await pinFrom(unpacked, path);
      if (!content) throw new SetupProblem(`None of ${debianNames.join(', ')} has ${library}`);
      // A set that grows while it is walked.
      for (const needed of readElf(content)?.needed ?? []) asked.add(needed);
    }
    for (const { name } of unpacked) await pinFrom(unpacked, `usr/share/doc/${name}/copyright`);
    return unpacked.map(({ folder: _, ...onePackage }) => onePackage);
  } finally {
    await archive.close();
  }
}

/** Notes the hash with the package that has the file. @returns null when none has */
async function pinFrom(packages: (DebianPackage & { folder: string })[], path: string): Promise<Buffer | null> {
  for (const { folder, files } of packages) {
    const content = await readUnpacked(folder, path);
    if (!content) continue;
    files[path] = sha256(content);
    return content;
  }
  return null;
}

async function neededByPrograms(root: string, node: NpmPackage, platform: Platform): Promise<Set<string>> {
  const carried = await carriedLayer(root, await readLockfile(root), platform);
  const addOns = [...carried.values()].flatMap((entry) => (entry.kind === 'file' ? [entry.content] : []));
  const program = await readFile(join(await npmPackage(node), 'bin/node'));
  return new Set([program, ...addOns].flatMap((content) => readElf(content)?.needed ?? []));
}

const fieldOf = (described: string, field: string) => described.match(new RegExp(`^${field}: (\\S+)`, 'm'))?.[1] ?? '';
