import { join, parse } from 'node:path';
import { browserTargets } from '@millrace/browser/bundle-library';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import type { Library } from './libraries.ts';

interface Target extends Library {
  version: string;
  outDirectory: string;
}

function common(source: string, { version }: Target): BuildOptions {
  return {
    absWorkingDir: source,
    bundle: true,
    packages: 'external',
    platform: 'browser',
    target: browserTargets,
    sourcemap: 'linked',
    define: { LIBRARY_VERSION: JSON.stringify(version) },
    legalComments: 'none',
    logLevel: 'warning',
  };
}

/**
 * As people read them: what an application bundles is minified with it.
 *
 * @returns the names that each entry exports
 */
export async function bundleModules(
  source: string,
  entries: Record<string, string>,
  target: Target,
): Promise<Record<string, string[]>> {
  const { metafile } = await build({
    ...common(source, target),
    entryPoints: Object.entries(entries).map(([out, path]) => ({ in: path, out })),
    outdir: join(target.outDirectory, 'esm'),
    chunkNames: 'shared/[hash]',
    format: 'esm',
    splitting: true,
    metafile: true,
    ...(target.directive !== undefined && { banner: { js: target.directive } }),
  });
  const outputs = Object.entries(metafile.outputs).map(([path, { exports }]) => [parse(path).name, exports]);
  return Object.fromEntries(outputs) as Record<string, string[]>;
}

/** One file for each entry that works by `require`, and as a script, which sets a global. */
export async function bundleUmd(
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
        plugins: name === 'surveys' ? [contextOfMainEntry] : [],
        banner: { js: umdHead(globals[name] ?? name, imports) },
        footer: { js: umdFoot(exported[name] ?? []) },
      }),
    ),
  );
}

/** A second copy of the context would be another one: hooks of this entry would not see the provider of the main one. */
const contextOfMainEntry: Plugin = {
  name: 'context-of-main-entry',
  setup({ onResolve }) {
    onResolve({ filter: /PostHogContext\.ts$/ }, () => ({ path: './index.js', external: true }));
  },
};

/** After the code, and never run: tells those who only read the file, as Node and TypeScript do, what it exports. */
function umdFoot(names: string[]): string {
  const exports = names.map((name) => `exports.${name} = 0;`).join(' ');
  return `});\nif (0) { Object.defineProperty(exports, '__esModule', { value: true }); ${exports} }`;
}

/** What others load a library by: `require`, or globals in the place of imports and of exports. */
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
