import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { buildOnce } from './build-once.ts';

const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));

export interface CompiledPrograms {
  /** Paths of the compiled files, in the order of the entry points. */
  files: string[];
  /** Deletes the files, unless other test files also use them. */
  remove(): Promise<void>;
}

/**
 * Compiles programs to JavaScript, each bundled with its imports. Compiled programs start seven times as fast as with a
 * loader, and a benchmark measures the same code as in an installation. Each program is compiled once per run (see
 * `buildOnce`).
 * @param entryPoints the programs' paths, relative to the repository root
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

/**
 * The file that starts a worker thread, and the entry points of the bundles that include it. At run time, the file
 * looks for the worker's bundle in its own directory.
 */
const startsThreads = {
  file: 'services/ingest-gateway/src/start.ts',
  in: ['services/ingest-gateway/src/main.ts', 'services/all-in-one/src/main.ts'],
  thread: { name: 'ingest-gateway-body-worker', path: 'services/ingest-gateway/src/capture/body-worker.ts' },
};

async function compile(entryPoint: string, directory: string): Promise<void> {
  // Import esbuild on demand, because most tests that use this package do not compile programs.
  const { build } = await import('esbuild');
  const compileTo = (path: string, name: string, plugins: Plugin[]) =>
    build({
      entryPoints: [{ in: join(repositoryRoot, path), out: name }],
      outdir: directory,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      // Write dynamic imports to separate files. In a single file, their libraries would be loaded at startup.
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
    // The file that starts threads must use its location after compilation. All other files look for files next to
    // their source files.
    compileTo(entryPoint, flatName(entryPoint), [someStayWhereTheyAre, filesKnowTheirPlace(file)]),
    ...(startsThreads.in.includes(entryPoint) ? [compileTo(thread.path, thread.name, [someStayWhereTheyAre])] : []),
  ]);
}

/** CommonJS libraries in the bundle call `require`, which ES modules do not have. */
const requireForLibraries = `import { createRequire as createRequireForLibraries } from 'node:module';
const require = createRequireForLibraries(import.meta.url);`;

/**
 * Packages that packages/stack does not bundle either, because they contain native code or WebAssembly, or are modified
 * at run time.
 */
const cannotBeBundled = /^(kafkajs|@node-rs\/crc32|@prisma\/schema-engine-wasm)(\/|-|$)/;

/** Imports packages by URL, because Node.js would not find them by name from the compiled file's directory. */
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

/**
 * Keeps `import.meta.url` pointing to the source file, because files may load other files relative to their own
 * location.
 */
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
