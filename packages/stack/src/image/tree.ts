// The files of an image or of a layer, in memory and written to a folder.
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What lies at a path of the image. All of it belongs to root, and everybody may read it: any user can run it. */
export type Entry =
  | { kind: 'directory'; mode: number }
  | { kind: 'file'; mode: number; content: Buffer }
  | { kind: 'link'; target: string };

/** By path, without a slash at its beginning or end. */
export type Tree = Map<string, Entry>;

export const directory = (mode = 0o755): Entry => ({ kind: 'directory', mode });
export const link = (target: string): Entry => ({ kind: 'link', target });
export const file = (content: string | Buffer, mode = 0o644): Entry => ({
  kind: 'file',
  mode,
  content: Buffer.isBuffer(content) ? content : Buffer.from(content),
});

/** Adds everything in a folder of this machine at `path`. @param takes tells what is wanted, by its path in the folder */
export async function addFolder(
  tree: Tree,
  path: string,
  { folder, takes = () => true }: { folder: string; takes?: (path: string) => boolean },
): Promise<void> {
  for (const found of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const source = join(found.parentPath, found.name);
    const within = source.slice(folder.length + 1);
    if (!takes(within)) continue;
    const target = `${path}/${within}`;
    if (found.isSymbolicLink()) tree.set(target, link(await readlink(source)));
    else if (found.isFile()) {
      const isExecutable = ((await stat(source)).mode & 0o100) !== 0;
      tree.set(target, file(await readFile(source), isExecutable ? 0o755 : 0o644));
    }
  }
}

/** In the order of paths, each after the folders it lies in: what is the same is written the same. */
export function inOrder(tree: Tree): [path: string, entry: Entry][] {
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

/** Writes a tree into a folder of this machine. */
export async function writeTree(folder: string, tree: Tree): Promise<void> {
  await mkdir(folder, { recursive: true });
  const entries = inOrder(tree);
  for (const [path, entry] of entries) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    if (entry.kind === 'link') await symlink(entry.target, target);
    if (entry.kind === 'directory') await mkdir(target, { recursive: true });
    if (entry.kind === 'file') await writeFile(target, entry.content);
    if (entry.kind !== 'link') await chmod(target, entry.mode);
  }
  // From the inside out: writing into a folder would change its time again.
  for (const [path, entry] of entries.reverse()) {
    if (entry.kind !== 'link') await utimes(join(folder, path), 0, 0);
  }
}
