import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateRawSync, constants as zlib } from 'node:zlib';

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

/** A file of the library, in memory in every form in which it is sent. */
export interface LibraryFile {
  plain: Buffer;
  br: Buffer;
  gzip: Buffer;
  /** Tag of the content; the encoding is added to it when it is sent. */
  etag: string;
  /** What a page may demand of it: `sha384-…`. */
  integrity: string;
}

/** The browser library as the build left it (packages/browser). Pages that name a version get that one, or none. */
export interface BrowserLibrary {
  /** What pages get that name no version. */
  version: string;
  /** By version and name. */
  files: ReadonlyMap<string, ReadonlyMap<string, LibraryFile>>;
}

/** Magic, deflate, no flags, no time, best compression, no system. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);
const trailerBytes = 8;

/**
 * One gzip stream of a short text and of what is in another, which is not unpacked: a stream is a row of blocks, and may
 * begin with those of the text. Browsers do not read two streams in a row.
 * @param gzipped without a name or a comment in its header, as zlib makes it
 */
export function joinGzip(text: string, gzipped: Buffer, plain: Buffer): Buffer {
  const start = Buffer.from(text);
  // Ends at a whole byte, without the mark of a last block.
  const blocks = deflateRawSync(start, { finishFlush: zlib.Z_SYNC_FLUSH });
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeUInt32LE(crc32(plain, crc32(start)), 0);
  trailer.writeUInt32LE((start.length + plain.length) >>> 0, 4);
  return Buffer.concat([header, blocks, gzipped.subarray(header.length, -trailerBytes), trailer]);
}
