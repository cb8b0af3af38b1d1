import { chmod, mkdir, readFile, readlink, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listFilesBelow } from '../../bin/prepare/files-below.mjs';
import { listUnbundledPackages, readPlatformBuilds } from '../build/build.ts';
import { ensureNpmPackage } from '../fetched-programs.ts';
import { type Base, type BaseLock, type Lockfile, type Platform, readDebianFiles } from './base.ts';

/**
 * The user that runs in the image. Images without a shell commonly use this ID. The image can also run as any other
 * user.
 */
export const nonroot = { uid: 65532, gid: 65532 };

/**
 * Creates the layer of shared libraries, with the files that libraries and vulnerability scanners read. The layer
 * changes with Debian's security updates.
 */
export async function systemLayer(lock: BaseLock, platform: Platform): Promise<Tree> {
  const { debian } = lock[platform.architecture];
  const tree: Tree = new Map([
    ['lib', link('usr/lib')],
    [platform.loader, link(`/usr/lib/${platform.triplet}/${platform.loader.split('/').at(-1)}`)],
    // Mount points that the container runtime needs, and a directory that is writable if the runtime allows it.
    ...['dev', 'proc', 'sys'].map((path) => [path, directory()] as const),
    ['tmp', directory(0o1777)],
    ['etc/passwd', file(`root:x:0:0:root:/:/none\nnonroot:x:${nonroot.uid}:${nonroot.gid}:nonroot:/tmp:/none\n`)],
    ['etc/group', file(`root:x:0:\nnonroot:x:${nonroot.gid}:\n`)],
    // Without this file, the C library would query DNS servers before reading /etc/hosts.
    ['etc/nsswitch.conf', file('hosts: files dns\n')],
    ['etc/hosts', file('127.0.0.1 localhost\n::1 localhost\n')],
    ['etc/os-release', file(osRelease(lock.debianRelease))],
  ]);
  if (platform.loader.startsWith('usr/lib64/')) tree.set('lib64', link('usr/lib64'));
  for (const [path, content] of await readDebianFiles(debian, platform)) {
    tree.set(path, file(content, path.startsWith('usr/lib/') ? 0o755 : 0o644));
  }
  for (const { name, version, source } of debian) {
    tree.set(`var/lib/dpkg/status.d/${name}`, file(packageStatus({ name, version, source }, platform)));
  }
  return tree;
}

/** Returns the content of /etc/os-release, which vulnerability scanners use to choose their database. */
function osRelease(release: string): string {
  return `PRETTY_NAME="Millrace, with libraries of Debian ${release}"\nNAME="Debian GNU/Linux"\nID=debian\nVERSION_ID="${release}"\n`;
}

function packageStatus(
  { name, version, source }: { name: string; version: string; source: string },
  platform: Platform,
) {
  const lines = { Package: name, Source: source, Version: version, Architecture: platform.architecture };
  const text = Object.entries({ ...lines, Status: 'install ok installed' }).map(([key, value]) => `${key}: ${value}`);
  return `${text.join('\n')}\n`;
}

/** Creates the Node.js layer, without npm. */
export async function nodeLayer({ node }: Base): Promise<Tree> {
  const folder = await ensureNpmPackage(node);
  return new Map([
    ['usr/bin/node', file(await readFile(join(folder, 'bin/node')), 0o755)],
    ['usr/share/doc/node/LICENSE', file(await readFile(join(folder, 'LICENSE')))],
  ]);
}

/** Creates the layer of packages that cannot be bundled, with their builds for this platform. */
export async function packagesLayer(root: string, lockfile: Lockfile, platform: Platform): Promise<Tree> {
  const tree: Tree = new Map();
  for (const [name, source] of listUnbundledPackages(root)) {
    await addFolder(tree, `app/node_modules/${name}`, { folder: source });
    for (const build of lockfile.forPlatform(await readPlatformBuilds(source), platform)) {
      await addFolder(tree, `app/node_modules/${build.name}`, { folder: await ensureNpmPackage(build) });
    }
  }
  return tree;
}

export async function programsLayer(dist: string, documents: Record<string, string>): Promise<Tree> {
  // The first line names the interpreter, because the image has no shell that could start the script.
  const tree: Tree = new Map([['usr/bin/millrace', file("#!/usr/bin/node\nimport('/app/millrace.mjs');\n", 0o755)]]);
  await addFolder(tree, 'app', { folder: dist });
  for (const [path, text] of Object.entries(documents)) tree.set(path, file(text));
  return tree;
}

/**
 * A file, link or directory in the image. Every entry belongs to root and can be read by every user, so that the image
 * can run as any user.
 */
export type Entry =
  | { kind: 'directory'; mode: number }
  | { kind: 'file'; mode: number; content: Buffer }
  | { kind: 'link'; target: string };

/** Entries by path, without leading or trailing slashes. */
export type Tree = Map<string, Entry>;

export const directory = (mode = 0o755): Entry => ({ kind: 'directory', mode });
export const link = (target: string): Entry => ({ kind: 'link', target });
export const file = (content: string | Buffer, mode = 0o644): Entry => ({
  kind: 'file',
  mode,
  content: Buffer.isBuffer(content) ? content : Buffer.from(content),
});

interface FolderOptions {
  folder: string;
  /** Selects files by their path in the folder. By default, all files are included. */
  takes?: (path: string) => boolean;
  withPackages?: boolean;
}

export async function addFolder(
  tree: Tree,
  path: string,
  { folder, takes = () => true, withPackages = false }: FolderOptions,
): Promise<void> {
  for (const { path: source, isLink } of listFilesBelow(folder, { withPackages })) {
    const within = source.slice(folder.length + 1);
    if (!takes(within)) continue;
    const target = `${path}/${within}`;
    if (isLink) tree.set(target, link(await readlink(source)));
    else {
      const isExecutable = ((await stat(source)).mode & 0o100) !== 0;
      tree.set(target, file(await readFile(source), isExecutable ? 0o755 : 0o644));
    }
  }
}

/** Sorts entries by path and adds missing parent directories, so that equal trees produce equal archives. */
export function sortEntries(tree: Tree): [path: string, entry: Entry][] {
  const whole: Tree = new Map(tree);
  for (const path of tree.keys()) {
    for (const parent of parentsOf(path)) if (!whole.has(parent)) whole.set(parent, directory());
  }
  return [...whole].sort(([a], [b]) => (a < b ? -1 : 1));
}

function parentsOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

export async function writeTree(folder: string, tree: Tree): Promise<void> {
  await mkdir(folder, { recursive: true });
  const entries = sortEntries(tree);
  for (const [path, entry] of entries) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    if (entry.kind === 'link') await symlink(entry.target, target);
    if (entry.kind === 'directory') await mkdir(target, { recursive: true });
    if (entry.kind === 'file') await writeFile(target, entry.content);
    if (entry.kind !== 'link') await chmod(target, entry.mode);
  }
  // Set the times of a directory's content before its own, because writing to a directory changes its time.
  for (const [path, entry] of entries.reverse()) {
    if (entry.kind !== 'link') await utimes(join(folder, path), 0, 0);
  }
}
