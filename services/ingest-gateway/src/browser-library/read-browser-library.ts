import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserLibrary, LibraryFile } from './browser-library.ts';

/**
 * Reads every file into memory, once: some hundred kilobytes for each version.
 * @param directory `library.json`, and a folder for each version: `<version>/<name>`, `<name>.br`, `<name>.gz`
 * @returns null where there is none
 */
export async function readBrowserLibrary(directory: string): Promise<BrowserLibrary | null> {
  const text = await readFile(join(directory, 'library.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const { version } = JSON.parse(text) as { version: string };
  const entries = await readdir(directory, { withFileTypes: true });
  const versions = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const files = await Promise.all(
    versions.map(async (name) => [name, await readVersion(join(directory, name))] as const),
  );
  return { version, files: new Map(files) };
}

async function readVersion(folder: string): Promise<Map<string, LibraryFile>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  return new Map(await Promise.all(names.map(async (name) => [name, await readForms(join(folder, name))] as const)));
}

async function readForms(path: string): Promise<LibraryFile> {
  const [plain, br, gzip] = await Promise.all([readFile(path), readFile(`${path}.br`), readFile(`${path}.gz`)]);
  const digest = createHash('sha384').update(plain).digest('base64');
  return { plain, br, gzip, etag: `"${digest.slice(0, 24)}"`, integrity: `sha384-${digest}` };
}
