import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, parse } from 'node:path';
import { bundleOptions } from '@millrace/browser/bundle-library';
import { type Code, minifyCode } from '@millrace/browser/minify-code';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import type { Library } from './libraries.ts';

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
 * Minified already, further than most bundlers of applications go; source maps say what was written.
 *
 * @returns the names that each entry exports
 */
export async function bundleModules(
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
        sourcemap: 'linked',
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
