import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { createNameMangling } from './internal-names.ts';
import { type Code, minifyCode } from './minify-code.ts';

/** Bundles the library as scripts for pages without a build step, and as modules for bundlers. */
export const bundles = {
  /** The script that the gateway serves at `/static/array.js`. When it loads, it replaces the snippet's stub. */
  'array.js': { entry: 'snippet.ts', format: 'iife' },
  /** Scripts with features that `array.js` loads on demand. */
  'exceptions.js': { entry: 'side-scripts/exceptions.ts', format: 'iife' },
  'web-vitals.js': { entry: 'side-scripts/web-vitals.ts', format: 'iife' },
  'index.js': { entry: 'index.ts', format: 'esm' },
  'slim.js': { entry: 'slim.ts', format: 'esm' },
} as const;

export type BundleName = keyof typeof bundles;

/** Returns the esbuild options for all bundles. `minifyCode` then minifies esbuild's output further. */
export function bundleOptions(version: string): BuildOptions {
  return {
    bundle: true,
    minifySyntax: true,
    platform: 'browser',
    // The oldest supported browsers. The library works without newer features, such as `CompressionStream`.
    target: ['chrome94', 'firefox93', 'safari15'],
    define: { LIBRARY_VERSION: JSON.stringify(version) },
    legalComments: 'none',
    logLevel: 'warning',
  };
}

/** Returns the package version, which is part of the URL of each library file. */
export async function readLibraryVersion(): Promise<string> {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

const bundled = new Map<BundleName, Promise<Code>>();

/** Bundles and minifies one entry, once per process. Takes a few hundred milliseconds. */
export function bundleLibrary(name: BundleName): Promise<Code> {
  const known = bundled.get(name);
  if (known) return known;
  const code = bundle(name);
  bundled.set(name, code);
  return code;
}

async function bundle(name: BundleName): Promise<Code> {
  const { entry, format } = bundles[name];
  const { define, ...options } = bundleOptions(await readLibraryVersion());
  const digests = name === 'array.js' && { SIDE_SCRIPT_DIGESTS: JSON.stringify(await sideScriptDigests()) };
  const { outputFiles } = await build({
    ...options,
    ...createNameMangling(),
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
