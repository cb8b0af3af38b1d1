import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

export interface CompiledPrograms {
  /** The compiled files, in the order they were asked for. */
  files: string[];
  /** Deletes them. */
  remove(): Promise<void>;
}

/**
 * Compiles programs to plain JavaScript in a temporary folder, each with our own packages inside and libraries loaded
 * from where they are installed. They start three times as fast as through a loader, and a benchmark runs what an
 * installation runs.
 *
 * @param entryPoints paths from the repository root.
 */
export async function compilePrograms(entryPoints: readonly string[]): Promise<CompiledPrograms> {
  // Loaded here: most tests that use this package compile nothing.
  const { build } = await import('esbuild');
  const directory = await mkdtemp(join(tmpdir(), 'millrace-compiled-'));
  const files = await Promise.all(
    entryPoints.map(async (entryPoint, index) => {
      const name = `${index}-${basename(entryPoint, '.ts')}`;
      await build({
        entryPoints: [{ in: join(repositoryRoot, entryPoint), out: name }],
        outdir: directory,
        outExtension: { '.js': '.mjs' },
        bundle: true,
        // What is imported later is a file of its own: in one file its libraries would be loaded at the start.
        splitting: true,
        platform: 'node',
        format: 'esm',
        target: 'node20',
        logLevel: 'warning',
        // As Node finds them: what a library keeps for bundlers alone cannot be loaded from where it is.
        conditions: ['node'],
        plugins: [librariesStayWhereTheyAre, filesKnowTheirPlace],
      });
      return join(directory, `${name}.mjs`);
    }),
  );
  return { files, remove: () => rm(directory, { recursive: true, force: true }) };
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
