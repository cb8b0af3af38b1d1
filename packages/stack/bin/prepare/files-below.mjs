import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lists the files and symbolic links below a directory, ordered by path. Does not follow links: pnpm links the packages
 * of a workspace to each other, so following the links never ends. `readdir` with `recursive: true` follows links in
 * Node.js 22 and later.
 *
 * @param {string} directory
 * @param {{ withPackages?: boolean }} options whether to enter directories named `node_modules`
 * @returns {{ path: string, isLink: boolean }[]} paths that start with `directory`
 */
export function listFilesBelow(directory, { withPackages = false } = {}) {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => withPackages || name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? listFilesBelow(path, { withPackages }) : [{ path, isLink: entry.isSymbolicLink() }];
    });
}
