import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { shortNames } from './internal-names.ts';
import { type Code, minifyCode } from './minify-code.ts';

/** What is made of the library: the script for pages without a build, and modules for those with one. */
export const bundles = {
  /** As the gateway serves it at `/static/array.js`: takes over the snippet's stub. */
  'array.js': { entry: 'snippet.ts', format: 'iife' },
  /** Which that one loads on sites that ask for it. */
  'exceptions.js': { entry: 'side-scripts/exceptions.ts', format: 'iife' },
  'web-vitals.js': { entry: 'side-scripts/web-vitals.ts', format: 'iife' },
  'index.js': { entry: 'index.ts', format: 'esm' },
  'slim.js': { entry: 'slim.ts', format: 'esm' },
} as const;

export type BundleName = keyof typeof bundles;

/** Of the libraries for pages; their code is for `minifyCode` yet. */
export function bundleOptions(version: string): BuildOptions {
  return {
    bundle: true,
    minifySyntax: true,
    platform: 'browser',
    // The oldest browsers that run it; what they lack (`CompressionStream`) is done without.
    target: ['chrome94', 'firefox93', 'safari15'],
    define: { LIBRARY_VERSION: JSON.stringify(version) },
    legalComments: 'none',
    logLevel: 'warning',
  };
}

/** The version of the package, and of the files it is served as. */
export async function libraryVersion(): Promise<string> {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

const bundled = new Map<BundleName, Promise<Code>>();

/** Compiles and minifies one of them, once per process; takes a few hundred milliseconds. */
export function bundleLibrary(name: BundleName): Promise<Code> {
  const known = bundled.get(name);
  if (known) return known;
  const code = bundle(name);
  bundled.set(name, code);
  return code;
}

async function bundle(name: BundleName): Promise<Code> {
  const { entry, format } = bundles[name];
  const { define, ...options } = bundleOptions(await libraryVersion());
  const digests = name === 'array.js' && { SIDE_SCRIPT_DIGESTS: JSON.stringify(await sideScriptDigests()) };
  const { outputFiles } = await build({
    ...options,
    ...shortNames(),
    define: { ...define, ...digests },
    entryPoints: [fileURLToPath(new URL(`../src/${entry}`, import.meta.url))],
    outfile: name,
    write: false,
    format,
    sourcemap: 'external',
  });
  const text = (suffix: string) => outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? '';
  return minifyCode({ code: text('.js'), sourceMap: text('.map') }, format === 'esm' ? 'module' : 'script');
}

async function sideScriptDigests(): Promise<Record<string, string>> {
  const names = ['exceptions', 'web-vitals'] as const;
  const digests = names.map(async (name) => {
    const { code } = await bundleLibrary(`${name}.js`);
    return [name, `sha256-${createHash('sha256').update(code).digest('base64')}`];
  });
  return Object.fromEntries(await Promise.all(digests));
}
