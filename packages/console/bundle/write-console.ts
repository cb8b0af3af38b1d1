// Builds the console's pages, and checks their sizes.

import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Name of the console folder, next to the bundle of the management API, which serves the console. */
export const consoleFolder = 'console';

/** Maximum gzip size, in bytes, of all files except fonts that load before the first render. */
export const firstLoadLimit = 250_000;
/**
 * Maximum gzip size, in bytes, of the additional files that a page loads, including the files that most pages share.
 */
export const pageLimit = 100_000;
/** Maximum gzip size, in bytes, of a file that loads on demand within a page, such as the SQL editor. */
export const lazyFileLimit = 120_000;
/**
 * Maximum size, in bytes, of the fonts that every page loads. Fonts do not delay pages, because the browser shows a
 * system font until they have loaded.
 */
export const fontLimit = 90_000;

const home = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

type Manifest = Record<
  string,
  { file: string; isEntry?: boolean; imports?: string[]; css?: string[]; dynamicImports?: string[]; src?: string }
>;

export interface ConsoleSizes {
  /** Gzip size in bytes of the files that load before the first render. */
  firstLoad: number;
  /** Gzip size in bytes of all files that the page for public links loads. */
  sharedLoad: number;
  fonts: number;
  pages: Record<string, number>;
  /** Gzip sizes in bytes of the files that load on demand within a page. */
  lazyFiles: Record<string, number>;
}

/**
 * Builds the console into a folder of static files: `index.html`, `shared.html` and `assets/…` with hashed names. Each
 * text file is also compressed with brotli and gzip.
 * @param directory the output folder, which is emptied first
 * @param isQuick whether to use fast compression; the maximum level takes seconds, which is too slow for local builds
 * @param marksWords whether to wrap every string of the `words.ts` files in ⟦ and ⟧, so that tests find interface text
 * from other sources
 * @returns the sizes, and the bundle's source files as paths relative to `root`
 * @throws Error if a file or group of files exceeds its size limit
 */
export async function writeConsole(
  directory: string,
  { isQuick = false, marksWords = false, root = home } = {},
): Promise<{ sizes: ConsoleSizes; bundled: string[] }> {
  await rm(directory, { recursive: true, force: true });
  const bundled = await runVite(directory, marksWords);
  const manifest = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8')) as Manifest;
  const sizes = await measure(directory, manifest);
  refuseLarge(sizes);
  await rm(join(directory, 'manifest.json'));
  await rm(join(directory, '.vite-cache'), { recursive: true, force: true });
  await writeLicenses(directory);
  await compressAll(directory, isQuick);
  return { sizes, bundled: bundled.map((path) => relative(root, path)).sort() };
}

async function runVite(directory: string, marksWords: boolean): Promise<string[]> {
  const program = join(home, 'bundle/run-vite.mjs');
  const options = { cwd: home, maxBuffer: 16 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, directory, ...(marksWords ? ['--marked'] : [])],
    options,
  );
  // Vite may print messages before the JSON.
  return JSON.parse(stdout.slice(stdout.lastIndexOf('["'))) as string[];
}

async function measure(directory: string, manifest: Manifest): Promise<ConsoleSizes> {
  const sizeOf = async (file: string) =>
    (await promisify(gzip)(await readFile(join(directory, file)), { level: 9 })).length;
  const sum = async (files: Iterable<string>) => {
    let bytes = 0;
    for (const file of files) bytes += await sizeOf(file);
    return bytes;
  };
  const first = new Set(['index.html', ...filesOf(manifest, 'index.html')]);
  const shared = new Set(['shared.html', ...filesOf(manifest, 'shared.html')]);
  const ownSize = (name: string, loaded: ReadonlySet<string>) =>
    sum([...filesOf(manifest, name)].filter((file) => !loaded.has(file)));
  const pages: ConsoleSizes['pages'] = {};
  for (const name of loadedOnDemand(manifest, 'index.html')) pages[name] = await ownSize(name, first);
  const lazyFiles: ConsoleSizes['lazyFiles'] = {};
  for (const page of Object.keys(pages))
    for (const name of loadedOnDemand(manifest, page))
      if (!(name in pages)) lazyFiles[name] = await ownSize(name, new Set([...first, ...filesOf(manifest, page)]));
  // Count only the Latin subset of each font. Other subsets load only for pages that contain their characters.
  const fonts = (await readdir(join(directory, 'assets'))).filter((name) => /-latin-wght-.*\.woff2$/.test(name));
  let fontBytes = 0;
  for (const name of fonts) fontBytes += (await readFile(join(directory, 'assets', name))).length;
  return { firstLoad: await sum(first), sharedLoad: await sum(shared), fonts: fontBytes, pages, lazyFiles };
}

/** Returns the files that load when the browser loads a manifest entry. */
function filesOf(manifest: Manifest, name: string): Set<string> {
  return new Set(entriesOf(manifest, name).flatMap(({ file, css = [] }) => [file, ...css]));
}

/** Returns the names of the manifest entries that an entry or its imports load on demand. */
function loadedOnDemand(manifest: Manifest, name: string): Set<string> {
  return new Set(entriesOf(manifest, name).flatMap(({ dynamicImports = [] }) => dynamicImports));
}

/** Returns a manifest entry and, recursively, all entries that it imports. */
function entriesOf(manifest: Manifest, name: string, seen = new Set<string>()): Manifest[string][] {
  const entry = manifest[name];
  if (entry === undefined || seen.has(name)) return [];
  seen.add(name);
  return [entry, ...(entry.imports ?? []).flatMap((imported) => entriesOf(manifest, imported, seen))];
}

function refuseLarge({ firstLoad, sharedLoad, fonts, pages, lazyFiles }: ConsoleSizes): void {
  const limits: [name: string, bytes: number, limit: number][] = [
    ['The first load', firstLoad, firstLoadLimit],
    ['The page behind a public link', sharedLoad, firstLoadLimit],
    ['Fonts', fonts, fontLimit],
    ...Object.entries(pages).map(([name, bytes]): [string, number, number] => [name, bytes, pageLimit]),
    ...Object.entries(lazyFiles).map(([name, bytes]): [string, number, number] => [name, bytes, lazyFileLimit]),
  ];
  const large = limits.filter(([, bytes, limit]) => bytes > limit);
  if (large.length === 0) return;
  const lines = large.map(([name, bytes, limit]) => `${name}: ${bytes} bytes with gzip, ${limit} are allowed.`);
  throw new Error(`The console is too large.\n${lines.join('\n')}`);
}

async function writeLicenses(directory: string): Promise<void> {
  const texts = await Promise.all(
    ['inter', 'jetbrains-mono'].map((name) =>
      readFile(join(home, 'node_modules/@fontsource-variable', name, 'LICENSE'), 'utf8'),
    ),
  );
  await writeFile(join(directory, 'assets/fonts-license.txt'), texts.join('\n\n'));
}

async function compressAll(directory: string, isQuick: boolean): Promise<void> {
  const quality = { [constants.BROTLI_PARAM_QUALITY]: isQuick ? 5 : constants.BROTLI_MAX_QUALITY };
  const assets = join(directory, 'assets');
  await mkdir(assets, { recursive: true });
  const texts = (await readdir(assets)).filter((name) => /\.(js|css|svg)$/.test(name));
  await Promise.all(
    texts.map(async (name) => {
      const content = await readFile(join(assets, name));
      await Promise.all([
        writeFile(join(assets, `${name}.br`), await promisify(brotliCompress)(content, { params: quality })),
        writeFile(join(assets, `${name}.gz`), await promisify(gzip)(content, { level: isQuick ? 6 : 9 })),
      ]);
    }),
  );
}
