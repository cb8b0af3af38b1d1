import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { buildOnce } from './build-once.ts';

const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));

export interface CompiledPrograms {
  /** The compiled files, in the order they were asked for. */
  files: string[];
  /** Deletes them, unless others use them too. */
  remove(): Promise<void>;
}

/**
 * Compiles programs to plain JavaScript, each with all that it imports inside: they start seven times as fast as through a
 * loader, and a benchmark runs what an installation runs. Each is compiled once per run, see `buildOnce`.
 *
 * @param entryPoints paths from the repository root.
 */
export async function compilePrograms(entryPoints: readonly string[]): Promise<CompiledPrograms> {
  const built = await Promise.all(
    entryPoints.map((entryPoint) => buildOnce(flatName(entryPoint), (directory) => compile(entryPoint, directory))),
  );
  return {
    files: built.map(({ directory }, at) => join(directory, `${flatName(entryPoints[at] ?? '')}.mjs`)),
    remove: async () => void (await Promise.all(built.map(({ remove }) => remove()))),
  };
}

const flatName = (entryPoint: string) => entryPoint.replaceAll('/', '-').replace(/\.ts$/, '');

/** Who starts threads, whose program it looks for beside itself under this name; and the programs that it is in. */
const startsThreads = {
  file: 'services/ingest-gateway/src/start.ts',
  in: ['services/ingest-gateway/src/main.ts', 'services/all-in-one/src/main.ts'],
  thread: { name: 'ingest-gateway-body-worker', path: 'services/ingest-gateway/src/large-bodies/body-worker.ts' },
};

async function compile(entryPoint: string, directory: string): Promise<void> {
  // Loaded here: most tests that use this package compile nothing.
  const { build } = await import('esbuild');
  const compileTo = (path: string, name: string, plugins: Plugin[]) =>
    build({
      entryPoints: [{ in: join(repositoryRoot, path), out: name }],
      outdir: directory,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      // What is imported later is a file of its own: in one file its libraries would be loaded at the start.
      splitting: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'warning',
      banner: { js: requireForLibraries },
      plugins,
    });
  const { file, thread } = startsThreads;
  await Promise.all([
    // Whoever starts threads knows its own place; the others are asked for files beside their sources.
    compileTo(entryPoint, flatName(entryPoint), [someStayWhereTheyAre, filesKnowTheirPlace(file)]),
    ...(startsThreads.in.includes(entryPoint) ? [compileTo(thread.path, thread.name, [someStayWhereTheyAre])] : []),
  ]);
}

/** Libraries written for `require` find it, wherever they end up. */
const requireForLibraries = `import { createRequire as createRequireForLibraries } from 'node:module';
const require = createRequireForLibraries(import.meta.url);`;

/** As packages/stack leaves them out of the programs it builds: machine code, WebAssembly, and what is replaced while running. */
const cannotBeBundled = /^(kafkajs|@node-rs\/crc32|@prisma\/schema-engine-wasm)(\/|-|$)/;

/** Imported by file address: the compiled file lies outside the tree that bare names resolve in. */
const someStayWhereTheyAre: Plugin = {
  name: 'some-stay-where-they-are',
  setup(compilation) {
    compilation.onResolve({ filter: cannotBeBundled }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === resolving) return undefined;
      const found = await compilation.resolve(path, { importer, resolveDir, kind, pluginData: resolving });
      if (found.errors.length > 0 || !found.path.startsWith('/')) return found;
      return { path: kind === 'require-call' ? found.path : pathToFileURL(found.path).href, external: true };
    });
  },
};
const resolving = Symbol('resolving');

/** Our files may ask where they are (to load something beside them): the answer stays the place of the source. */
function filesKnowTheirPlace(except: string): Plugin {
  return {
    name: 'files-know-their-place',
    setup(compilation) {
      compilation.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const contents = await readFile(path, 'utf8');
        if (path === join(repositoryRoot, except) || !contents.includes('import.meta.url')) return undefined;
        return {
          contents: contents.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
          loader: 'ts',
        };
      });
    },
  };
}
