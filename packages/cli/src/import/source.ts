// Opens and decompresses the file or standard input that an import reads.

import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { pipeline as completePipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { UsageError } from '../failures.ts';
import type { Terminal } from '../output.ts';

/** The file to import. It is read twice, because the complete file is checked before any event is sent. */
export interface ImportSource {
  /** The input's name in messages: the path, or `standard input`. */
  name: string;
  read(): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

const chunkBytes = 256 * 1024;

/**
 * Opens a file. If the path is `-`, copies standard input to a temporary file and opens that file. Detects gzip by the
 * first bytes.
 * @throws UsageError if the input cannot be read
 */
export async function openSource(
  path: string,
  terminal: Pick<Terminal, 'input'>,
  signal: AbortSignal,
): Promise<ImportSource> {
  if (path !== '-') return { name: path, read: await reader(path), close: async () => {} };
  const { input } = terminal;
  if (!input) throw new UsageError('<file>: Standard input is not available.');
  const directory = await mkdtemp(join(tmpdir(), 'millrace-import-'));
  const close = () => rm(directory, { recursive: true, force: true });
  try {
    const file = join(directory, 'input');
    await completePipeline(input, createWriteStream(file, { mode: 0o600 }), { signal });
    return { name: 'standard input', read: await reader(file), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function reader(path: string): Promise<() => AsyncIterable<Buffer>> {
  const isPacked = await startsLikeGzip(path);
  return () => {
    const bytes = createReadStream(path, { highWaterMark: chunkBytes });
    if (!isPacked) return bytes;
    const unpacked = createGunzip({ chunkSize: chunkBytes });
    // Errors of both streams are emitted by `unpacked`, and closing `unpacked` early closes both streams.
    pipeline(bytes, unpacked, () => {});
    return reportDamage(unpacked, path);
  };
}

async function* reportDamage(unpacked: AsyncIterable<Buffer>, path: string): AsyncGenerator<Buffer> {
  try {
    yield* unpacked;
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error;
    throw new UsageError(`<file>: ${path} is a damaged or incomplete gzip file.`);
  }
}

async function startsLikeGzip(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) throw new UsageError(`<file>: ${path} is a directory.`);
    const file = await open(path);
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
      return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new UsageError(`<file>: ${path} does not exist.`);
    if (code === 'EACCES') throw new UsageError(`<file>: No permission to read ${path}.`);
    throw error;
  }
}
