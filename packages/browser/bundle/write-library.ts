import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { stop } from 'esbuild';
import { type BundleName, bundleLibrary, bundles, readLibraryVersion } from './bundle-library.ts';
import { gzipTightly } from './gzip-tightly.ts';

/** Name of the library folder, which is next to the gateway's program file. */
export const libraryFolder = 'browser-library';

/**
 * Writes the library files for the gateway: `<directory>/library.json` with the version, and `<directory>/<version>/`
 * with each file. Files are stored uncompressed, with brotli and with gzip, at the highest compression level.
 * @param directory the directory, which is created if missing and in which other versions are kept
 * @param isQuick whether to use normal compression; the highest level takes seconds, which is too slow for development
 */
export async function writeLibrary(directory: string, { isQuick = false } = {}): Promise<void> {
  const version = await readLibraryVersion();
  const folder = join(directory, version);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const names = Object.keys(bundles) as BundleName[];
  const integrities = await Promise.all(names.map((name) => writeFiles(folder, name, isQuick)));
  // Stop esbuild's child process, which would otherwise run as long as this process.
  await stop();
  const files = Object.fromEntries(names.map((name, at) => [name, { integrity: integrities[at] }]));
  await writeFile(join(directory, 'library.json'), `${JSON.stringify({ version, files }, null, 2)}\n`);
}

/** Writes a file in three encodings. @returns the value of the `integrity` attribute */
async function writeFiles(folder: string, name: BundleName, isQuick: boolean): Promise<string> {
  const code = Buffer.from((await bundleLibrary(name)).code);
  const quality = { [constants.BROTLI_PARAM_QUALITY]: isQuick ? 5 : constants.BROTLI_MAX_QUALITY };
  await Promise.all([
    writeFile(join(folder, name), code),
    writeFile(join(folder, `${name}.br`), await promisify(brotliCompress)(code, { params: quality })),
    writeFile(join(folder, `${name}.gz`), await (isQuick ? promisify(gzip)(code) : gzipTightly(code))),
  ]);
  return `sha384-${createHash('sha384').update(code).digest('base64')}`;
}
