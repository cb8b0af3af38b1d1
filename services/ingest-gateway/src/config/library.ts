import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateRawSync, constants as zlib } from 'node:zlib';

/**
 * Reads all files into memory, a few hundred kilobytes per version.
 * @param directory a directory that contains `library.json` and a folder for each version: `<version>/<name>`,
 * `<name>.br`, `<name>.gz`
 * @returns null if the directory does not contain the library
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

export interface LibraryFile {
  plain: Buffer;
  br: Buffer;
  gzip: Buffer;
  /** The ETag of the uncompressed file. The response appends the encoding. */
  etag: string;
  integrity: string;
}

export interface BrowserLibrary {
  /** The version for pages that do not request a specific one. */
  version: string;
  files: ReadonlyMap<string, ReadonlyMap<string, LibraryFile>>;
}

/** Gzip header: magic bytes, deflate, no flags, no modification time, best compression, unknown operating system. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);
const trailerBytes = 8;

/**
 * Inserts a short string at the start of a gzip stream without decompressing the stream. This works because a stream is
 * a sequence of blocks. Two concatenated streams would not work, because browsers read only the first one.
 * @param gzipped a stream without a name or a comment in its header, as zlib creates it
 */
export function prependToGzip(text: string, gzipped: Buffer, plain: Buffer): Buffer {
  const start = Buffer.from(text);
  // This flush mode ends the compressed string at a byte boundary without a final block.
  const blocks = deflateRawSync(start, { finishFlush: zlib.Z_SYNC_FLUSH });
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeUInt32LE(crc32(plain, crc32(start)), 0);
  trailer.writeUInt32LE((start.length + plain.length) >>> 0, 4);
  return Buffer.concat([header, blocks, gzipped.subarray(header.length, -trailerBytes), trailer]);
}
