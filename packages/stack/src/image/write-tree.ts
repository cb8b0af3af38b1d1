import { chmod, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inOrder, type Tree } from './tree.ts';

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
