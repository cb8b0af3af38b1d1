import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface SourceFile {
  /** Relative to the repository, with slashes. */
  path: string;
  text: string;
}

const leftOut = new Set(['node_modules', 'dist', 'generated', '.millrace', '.git', 'coverage']);

/** The files below some folders, or files themselves, whose names end so; in the order of their paths. */
export async function sourceFiles(root: string, folders: string[], endings: string[]): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!leftOut.has(entry.name)) files.push(...(await sourceFiles(root, [path], endings)));
      } else if (endings.some((ending) => entry.name.endsWith(ending))) {
        files.push({ path, text: await readFile(join(root, path), 'utf8') });
      }
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}
