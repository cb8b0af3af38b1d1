import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The files and symbolic links below a directory, in the order of their paths. Does not follow links: pnpm links the
 * packages of a workspace to each other, so following them never ends. `readdir` with `recursive: true` does follow them
 * on Node.js 22 and newer.
 *
 * @param {string} directory
 * @param {{ withPackages?: boolean }} options whether to enter folders named `node_modules`
 * @returns {{ path: string, isLink: boolean }[]} with the paths starting with `directory`
 */
export function filesBelow(directory, { withPackages = false } = {}) {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => withPackages || name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? filesBelow(path, { withPackages }) : [{ path, isLink: entry.isSymbolicLink() }];
    });
}
