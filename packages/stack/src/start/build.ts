/** Builds the program for `npm start` (bin/prepare/built-start.mjs): `build.ts <directory>`. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { libraryFolder, writeLibrary } from '@millrace/browser/bundle';
import { consoleFolder, writeConsole } from '@millrace/console/bundle';
import { build, type Plugin, stop } from 'esbuild';
import { bundlePrograms } from '../build/build.ts';
import { allInOne, programs } from '../build/programs.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url)).replace(/\/$/, '');
const directory = process.argv[2];
if (directory === undefined) throw new Error('Usage: build.ts <directory>');

const names = [allInOne, 'ingest-gateway-body-worker'];
await bundlePrograms(
  root,
  Object.fromEntries(Object.entries(programs(root)).filter(([name]) => names.includes(name))),
  directory,
);
await writeLibrary(join(directory, libraryFolder), { isQuick: true });
await writeConsole(join(directory, consoleFolder), { isQuick: true });
await build({
  entryPoints: [{ in: join(root, 'packages/stack/src/start/start.ts'), out: 'start' }],
  outdir: directory,
  outExtension: { '.js': '.mjs' },
  chunkNames: 'start-chunks/[name]-[hash]',
  bundle: true,
  // Create chunks, so that rarely needed modules are loaded only when they are used.
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Without conditions, esbuild resolves packages as Node.js does.
  conditions: [],
  logLevel: 'warning',
  plugins: [sourcesStayWhereTheyAre(), packagesStayWhereTheyAre()],
});
// Stop esbuild's child process, which would keep this process alive.
await stop();

/** Sets `import.meta.url` to the source file's URL, because programs look for files relative to it. */
function sourcesStayWhereTheyAre(): Plugin {
  return {
    name: 'sources-stay-where-they-are',
    setup(compilation) {
      compilation.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        if (!text.includes('import.meta.url')) return undefined;
        return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)), loader: 'ts' };
      });
    },
  };
}

/**
 * Makes the build import packages by URL, because the build is outside of the directories in which Node.js would find
 * packages by name.
 */
function packagesStayWhereTheyAre(): Plugin {
  const resolving = Symbol('resolving');
  return {
    name: 'packages-stay-where-they-are',
    setup(compilation) {
      compilation.onResolve({ filter: /^[^./]/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
        if (pluginData === resolving || path.startsWith('node:')) return undefined;
        const found = await compilation.resolve(path, { importer, resolveDir, kind, pluginData: resolving });
        if (found.errors.length > 0 || !found.path.includes('/node_modules/')) return found;
        return { path: pathToFileURL(found.path).href, external: true };
      });
    },
  };
}
