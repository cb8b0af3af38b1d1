import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, parse } from 'node:path';
import { bundleOptions, bundleLibrary as bundleScript } from '@millrace/browser/bundle-library';
import { createNameMangling } from '@millrace/browser/internal-names';
import { type Code, minifyCode } from '@millrace/browser/minify-code';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { runProgram } from '../../run-program.ts';

/** A library that applications install. The `exports` in its package.json determine which entries are built. */
export interface Library {
  directory: string;
  /** The names of global variables that the UMD builds use: one for each entry, and one for each import. */
  globals: { entries: Record<string, string>; imports: Record<string, string> };
  options?: BuildOptions;
  directive?: string;
  /** Entries with side effects, which bundlers must keep even if the application uses none of their exports. */
  sideEffects: string[];
  /** The path of the script that the library provides for pages that do not use modules. */
  script: string;
}

export const libraries: Library[] = [
  {
    directory: 'packages/browser',
    globals: { entries: { index: 'Millrace', slim: 'Millrace' }, imports: {} },
    options: createNameMangling(),
    sideEffects: [],
    script: './array.js',
  },
  {
    directory: 'packages/react',
    globals: {
      entries: { index: 'MillraceReact', slim: 'MillraceReact', surveys: 'MillraceReactSurveys' },
      imports: { react: 'React', '@millrace/browser': '{ posthog: root.posthog }', './index.js': 'MillraceReact' },
    },
    // With this directive, frameworks that support server components also send the components to the browser.
    directive: "'use client';",
    // The entry `index` sets the client that hooks use without a provider.
    sideEffects: ['index'],
    script: './umd/index.js',
  },
];

export interface SourceManifest {
  name: string;
  version: string;
  description: string;
  keywords: string[];
  license: string;
  exports: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** Maps each package entry to its source file: `.` to `index`, and `./slim` to `slim`. */
function entriesOf({ exports }: SourceManifest): Record<string, string> {
  const entries = Object.entries(exports).filter(([, path]) => path.startsWith('./src/'));
  return Object.fromEntries(entries.map(([name, path]) => [name === '.' ? 'index' : name.slice(2), path]));
}

/**
 * Returns every `package.json` of the package by its path: the main one, and those for older resolvers.
 * @param entries the source files by entry name
 */
function packedManifests(
  source: SourceManifest,
  { sideEffects, script }: Library,
  entries: Record<string, string>,
): Record<string, object> {
  const { name, version, description, keywords, license, peerDependencies } = source;
  const names = Object.keys(entries);
  const types = (entry: string, from: string) =>
    `${from}/${(entries[entry] ?? '').slice('./src/'.length, -'.ts'.length)}.d.ts`;
  const conditions = (entry: string) => ({
    import: { types: types(entry, './types'), default: `./esm/${entry}.js` },
    // Make bundlers use the ES module for `require` too. Otherwise, an application that uses both import and require
    // would have two clients. Bundlers also cannot analyze `require` in a UMD file.
    module: `./esm/${entry}.js`,
    require: { types: types(entry, './umd/types'), default: `./umd/${entry}.js` },
  });

  return {
    'package.json': {
      name,
      version,
      description,
      keywords,
      license,
      type: 'module',
      engines: { node: '>=18' },
      sideEffects: [
        ...new Set([...sideEffects.flatMap((entry) => [`./esm/${entry}.js`, `./umd/${entry}.js`]), script]),
      ],
      main: './umd/index.js',
      module: './esm/index.js',
      types: './types/index.d.ts',
      unpkg: script,
      jsdelivr: script,
      exports: {
        ...Object.fromEntries(names.map((entry) => [entry === 'index' ? '.' : `./${entry}`, conditions(entry)])),
        './package.json': './package.json',
      },
      ...(peerDependencies && { peerDependencies }),
    },
    // With this file, Node.js treats the folder's `.js` files as CommonJS.
    'umd/package.json': { type: 'commonjs' },
    // Resolvers that do not support `exports` look for a directory with the entry's name.
    ...Object.fromEntries(
      names
        .filter((entry) => entry !== 'index')
        .map((entry) => [
          `${entry}/package.json`,
          { main: `../umd/${entry}.js`, module: `../esm/${entry}.js`, types: types(entry, '../types') },
        ]),
    ),
  };
}

/**
 * Builds a library into a package that applications can install (`npm pack <outDirectory>`). The package contains:
 *
 * - `esm/`: modules, with shared code in chunks
 * - `umd/`: one file per entry, for `require` and for pages
 * - `types/`, and a copy of it for `require`, with stubs for resolvers that do not support `exports`
 * - its own manifest, README and license
 *
 * @param outDirectory the target directory, which is emptied first
 */
export async function buildLibrary(root: string, library: Library, outDirectory: string): Promise<void> {
  const source = join(root, library.directory);
  const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as SourceManifest;
  const entries = entriesOf(manifest);

  await rm(outDirectory, { recursive: true, force: true });
  await mkdir(join(outDirectory, 'umd'), { recursive: true });
  const target = { ...library, version: manifest.version, outDirectory };
  await Promise.all([
    bundleModules(source, entries, target).then((exported) => bundleUmd(source, entries, target, exported)),
    declareTypes(root, library.directory, entries, outDirectory),
    cp(join(source, 'README.md'), join(outDirectory, 'README.md')),
    cp(join(root, 'LICENSE'), join(outDirectory, 'LICENSE')),
    library.script === './array.js' ? writeScript(outDirectory) : undefined,
  ]);
  const manifests = packedManifests(manifest, library, entries);
  for (const [path, content] of Object.entries(manifests)) {
    await mkdir(join(outDirectory, path, '..'), { recursive: true });
    await writeFile(join(outDirectory, path), `${JSON.stringify(content, null, 2)}\n`);
  }
}

/** Writes the script for pages that do not use modules. The gateway serves the script too. */
async function writeScript(outDirectory: string): Promise<void> {
  const { code, sourceMap } = await bundleScript('array.js');
  await writeFile(join(outDirectory, 'array.js'), `${code.trimEnd()}\n//# sourceMappingURL=array.js.map\n`);
  await writeFile(join(outDirectory, 'array.js.map'), sourceMap);
}

/**
 * Writes the type declarations of the entries, and of the files that they import, to `types/`, and to `umd/types/` for
 * `require`.
 */
async function declareTypes(
  root: string,
  directory: string,
  entries: Record<string, string>,
  outDirectory: string,
): Promise<void> {
  const all = await mkdtemp(join(tmpdir(), 'millrace-types-'));
  try {
    await compile(root, directory, all);
    const source = join(all, directory.slice('packages/'.length));
    for (const path of await reachable(source, Object.values(entries))) {
      await writeDeclaration(join(source, path), join(outDirectory, 'types', path.slice('src/'.length)));
    }
  } finally {
    await rm(all, { recursive: true, force: true });
  }
  await cp(join(outDirectory, 'types'), join(outDirectory, 'umd/types'), { recursive: true });
}

async function compile(root: string, directory: string, outDirectory: string): Promise<void> {
  const { status, output } = await runProgram(
    join(root, 'node_modules/.bin/tsc'),
    [
      '-p',
      directory,
      '--noEmit',
      'false',
      '--declaration',
      '--emitDeclarationOnly',
      '--stripInternal',
      '--rootDir',
      'packages',
      '--outDir',
      outDirectory,
      '--pretty',
      'false',
    ],
    { cwd: root },
  );
  if (status !== 0) throw new Error(`Could not generate type declarations for ${directory}:\n${output}`);
}

const relativeImport = /(['"])(\.{1,2}\/[^'"]+)\.ts\1/g;

/** Returns all declaration files that the entries import, directly or indirectly. */
async function reachable(source: string, entries: string[]): Promise<Set<string>> {
  const found = new Set<string>();
  const waiting = entries.map((path) => join(path.replace(/\.ts$/, '.d.ts')));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    const text = await readFile(join(source, path), 'utf8');
    for (const [, , imported] of text.matchAll(relativeImport)) waiting.push(join(dirname(path), `${imported}.d.ts`));
  }
  return found;
}

const typeStar = /^export type \* from/gm;

/**
 * Rewrites a declaration file for the package. Makes imports refer to `.js` files, and replaces `export type *`, which
 * compilers before TypeScript 5 do not support.
 */
async function writeDeclaration(from: string, to: string): Promise<void> {
  const text = await readFile(from, 'utf8');
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, text.replace(relativeImport, '$1$2.js$1').replace(typeStar, 'export * from'));
}

interface Target extends Library {
  version: string;
  outDirectory: string;
}

function common(source: string, { version, options }: Target): BuildOptions {
  return {
    ...bundleOptions(version),
    ...options,
    absWorkingDir: source,
    packages: 'external',
  };
}

/**
 * Bundles and minifies the ES modules, more thoroughly than most application bundlers do. Source maps contain the
 * original names.
 *
 * @returns the names that each entry exports
 */
async function bundleModules(
  source: string,
  entries: Record<string, string>,
  target: Target,
): Promise<Record<string, string[]>> {
  const { metafile, outputFiles } = await build({
    ...common(source, target),
    entryPoints: Object.entries(entries).map(([out, path]) => ({ in: path, out })),
    outdir: join(target.outDirectory, 'esm'),
    chunkNames: 'shared/[hash]',
    format: 'esm',
    splitting: true,
    sourcemap: 'external',
    write: false,
    metafile: true,
    ...(target.directive !== undefined && { banner: { js: target.directive } }),
  });
  const text = Object.fromEntries(outputFiles.map((file) => [file.path, file.text]));
  await Promise.all(
    Object.entries(text).map(async ([path, code]) => {
      const sourceMap = text[`${path}.map`];
      if (sourceMap !== undefined)
        await writeModule(path, await minifyCode({ code, sourceMap }, 'module for bundlers'));
    }),
  );
  const outputs = Object.entries(metafile.outputs).map(([path, { exports }]) => [parse(path).name, exports]);
  return Object.fromEntries(outputs) as Record<string, string[]>;
}

async function writeModule(path: string, { code, sourceMap }: Code): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${code}\n//# sourceMappingURL=${basename(path)}.map\n`);
  await writeFile(`${path}.map`, sourceMap);
}

/** Bundles one UMD file per entry, which works with `require` and as a script that sets a global variable. */
async function bundleUmd(
  source: string,
  entries: Record<string, string>,
  target: Target,
  exported: Record<string, string[]>,
): Promise<void> {
  const { entries: globals, imports } = target.globals;
  await Promise.all(
    Object.entries(entries).map(([name, path]) =>
      build({
        ...common(source, target),
        entryPoints: [{ in: path, out: name }],
        outdir: join(target.outDirectory, 'umd'),
        format: 'cjs',
        minify: true,
        sourcemap: 'linked',
        plugins: name === 'surveys' ? [contextOfMainEntry] : [],
        banner: { js: umdHead(globals[name] ?? name, imports) },
        footer: { js: umdFoot(exported[name] ?? []) },
      }),
    ),
  );
}

/**
 * Makes all entries use the main entry's React context. With a separate context, their hooks would not find the
 * provider.
 */
const contextOfMainEntry: Plugin = {
  name: 'context-of-main-entry',
  setup({ onResolve }) {
    onResolve({ filter: /PostHogContext\.ts$/ }, () => ({ path: './index.js', external: true }));
  },
};

/**
 * Returns code to append to the module. It never runs, and declares the exports for tools that only parse the file,
 * such as Node.js and TypeScript.
 */
function umdFoot(names: string[]): string {
  const exports = names.map((name) => `exports.${name} = 0;`).join(' ');
  return `});\nif (0) { Object.defineProperty(exports, '__esModule', { value: true }); ${exports} }`;
}

/**
 * Returns code to insert before the module. If `require` is available, the code uses it to load imports. Otherwise, it
 * uses global variables for imports and exports.
 */
function umdHead(global: string, imports: Record<string, string>): string {
  const globals = Object.entries(imports).map(
    ([name, value]) => `${JSON.stringify(name)}: ${value.startsWith('{') ? value : `root.${value}`}`,
  );
  return [
    '(function (root, define) {',
    "  if (typeof module === 'object' && module.exports) return define(module, require);",
    `  var globals = { ${globals.join(', ')} }, made = {};`,
    '  define(made, function (name) { return globals[name]; });',
    `  root.${global} = made.exports;`,
    "})(typeof self !== 'undefined' ? self : this, function (module, require) {",
  ].join('\n');
}
