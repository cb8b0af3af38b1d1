import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** What is made of the library: the script for pages without a build, and modules for those with one. */
export const bundles = {
  /** As the gateway serves it at `/static/array.js`: takes over the snippet's stub. */
  'array.js': { entry: 'snippet.ts', format: 'iife' },
  'index.js': { entry: 'index.ts', format: 'esm' },
  'slim.js': { entry: 'slim.ts', format: 'esm' },
} as const;

export type BundleName = keyof typeof bundles;

export interface Bundle {
  code: string;
  sourceMap: string;
}

/** The oldest browsers that run it; what they lack (`CompressionStream`) is done without. */
export const browserTargets = ['chrome94', 'firefox93', 'safari15'];

/** The version of the package, and of the files it is served as. */
export async function libraryVersion(): Promise<string> {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Compiles and minifies one of them; takes some tens of milliseconds. */
export async function bundleLibrary(name: BundleName): Promise<Bundle> {
  const { entry, format } = bundles[name];
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../src/${entry}`, import.meta.url))],
    outfile: name,
    bundle: true,
    minify: true,
    write: false,
    format,
    platform: 'browser',
    target: browserTargets,
    sourcemap: 'external',
    define: { LIBRARY_VERSION: JSON.stringify(await libraryVersion()) },
    legalComments: 'none',
    logLevel: 'warning',
  });
  const text = (suffix: string) => outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? '';
  return { code: text('.js'), sourceMap: text('.map') };
}
