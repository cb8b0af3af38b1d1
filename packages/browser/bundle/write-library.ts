import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { stop } from 'esbuild';
import { type BundleName, bundleLibrary, bundles, libraryVersion } from './bundle-library.ts';
import { gzipTightly } from './gzip-tightly.ts';

/** Beside the gateway's program, which looks for it there. */
export const libraryFolder = 'browser-library';

/**
 * Writes what the gateway serves of the library: `<directory>/library.json` with its version, and in
 * `<directory>/<version>/` each file as it is, with brotli and with gzip, compressed as far as they go.
 * @param directory made where it is missing; other versions in it stay
 * @param isQuick compressed as any server would: what takes seconds is not worth it for one machine.
 */
export async function writeLibrary(directory: string, { isQuick = false } = {}): Promise<void> {
  const version = await libraryVersion();
  const folder = join(directory, version);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const names = Object.keys(bundles) as BundleName[];
  const integrities = await Promise.all(names.map((name) => writeFiles(folder, name, isQuick)));
  // The compiler's own process would stay as long as this one.
  await stop();
  const files = Object.fromEntries(names.map((name, at) => [name, { integrity: integrities[at] }]));
  await writeFile(join(directory, 'library.json'), `${JSON.stringify({ version, files }, null, 2)}\n`);
}

/** @returns what a page may demand of the file. */
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
