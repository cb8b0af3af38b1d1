import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

export const repositoryRoot = fileURLToPath(new URL('../../../../', import.meta.url));

/**
 * Compiles programs to plain JavaScript, each with our own packages inside and libraries loaded from where they are
 * installed, so that both sides of a comparison run compiled code in plain Node.
 *
 * @param entryPoints paths from the repository root.
 * @returns the compiled files, in the same order.
 */
export async function bundle(entryPoints: readonly string[]): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  return Promise.all(
    entryPoints.map(async (entryPoint, index) => {
      const outfile = join(directory, `${index}-${basename(entryPoint, '.ts')}.mjs`);
      await build({
        entryPoints: [join(repositoryRoot, entryPoint)],
        outfile,
        bundle: true,
        platform: 'node',
        format: 'esm',
        target: 'node20',
        logLevel: 'warning',
        plugins: [librariesStayWhereTheyAre, filesKnowTheirPlace],
      });
      return outfile;
    }),
  );
}

/** Libraries are imported by file address: the compiled file lies outside the tree that bare names resolve in. */
const librariesStayWhereTheyAre: Plugin = {
  name: 'libraries-stay-where-they-are',
  setup(compilation) {
    compilation.onResolve({ filter: /^[^./]/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      const isOurs = path.startsWith('@millrace/');
      if (pluginData === resolving || kind === 'entry-point' || path.startsWith('node:') || isOurs) return undefined;
      const found = await compilation.resolve(path, { importer, resolveDir, kind, pluginData: resolving });
      if (found.errors.length > 0 || !found.path.startsWith('/')) return found;
      return { path: pathToFileURL(found.path).href, external: true };
    });
  },
};
const resolving = Symbol('resolving');

/** Our files may ask where they are (to load something beside them): the answer stays the place of the source. */
const filesKnowTheirPlace: Plugin = {
  name: 'files-know-their-place',
  setup(compilation) {
    compilation.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
      loader: 'ts',
    }));
  },
};
