// The libraries that applications install, and what their packages say of themselves.
import { shortNames } from '@millrace/browser/internal-names';
import type { BuildOptions } from 'esbuild';

/** A library that applications install; its `exports` in the repository are its entries. */
export interface Library {
  directory: string;
  /** What its modules are in a page without modules: the global by entry, and the one each import stands for. */
  globals: { entries: Record<string, string>; imports: Record<string, string> };
  /** For esbuild, beside what all libraries have. */
  options?: BuildOptions;
  /** Begins each of its modules. */
  directive?: string;
  /** Entries that do something when they are imported, and have to stay in an application that uses only others' names. */
  sideEffects: string[];
  /** The script for pages without modules. */
  script: string;
}

export const libraries: Library[] = [
  {
    directory: 'packages/browser',
    globals: { entries: { index: 'Millrace', slim: 'Millrace' }, imports: {} },
    options: shortNames(),
    sideEffects: [],
    script: './array.js',
  },
  {
    directory: 'packages/react',
    globals: {
      entries: { index: 'MillraceReact', slim: 'MillraceReact', surveys: 'MillraceReactSurveys' },
      imports: { react: 'React', '@millrace/browser': '{ posthog: root.posthog }', './index.js': 'MillraceReact' },
    },
    // Frameworks that render components on the server by default take what is in it to the browser.
    directive: "'use client';",
    // Gives the hooks the client they use without a provider.
    sideEffects: ['index'],
    script: './umd/index.js',
  },
];

/** What a library says of itself in the repository. */
export interface SourceManifest {
  name: string;
  version: string;
  description: string;
  keywords: string[];
  license: string;
  exports: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** The file of each entry by its name in the package: `.` is `index`, `./slim` is `slim`. */
export function entriesOf({ exports }: SourceManifest): Record<string, string> {
  const entries = Object.entries(exports).filter(([, path]) => path.startsWith('./src/'));
  return Object.fromEntries(entries.map(([name, path]) => [name === '.' ? 'index' : name.slice(2), path]));
}

/**
 * Every `package.json` of the packed library, by path: its own, and those that say something to older resolvers.
 *
 * @param entries the source file by name
 */
export function packedManifests(
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
    // Bundlers also for `require`: else an application that does both has two clients, and they cannot follow UMD's `require`.
    module: `./esm/${entry}.js`,
    require: { types: types(entry, './umd/types'), default: `./umd/${entry}.js` },
  });

  return {
    'package.json': {
      ...{ name, version, description, keywords, license },
      type: 'module',
      engines: { node: '>=18' },
      sideEffects: [
        ...new Set([...sideEffects.flatMap((entry) => [`./esm/${entry}.js`, `./umd/${entry}.js`]), script]),
      ],
      ...{ main: './umd/index.js', module: './esm/index.js', types: './types/index.d.ts' },
      ...{ unpkg: script, jsdelivr: script },
      exports: {
        ...Object.fromEntries(names.map((entry) => [entry === 'index' ? '.' : `./${entry}`, conditions(entry)])),
        './package.json': './package.json',
      },
      ...(peerDependencies && { peerDependencies }),
    },
    // Its files are what `require` takes them for.
    'umd/package.json': { type: 'commonjs' },
    // Resolvers that know no `exports` look for a directory.
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
