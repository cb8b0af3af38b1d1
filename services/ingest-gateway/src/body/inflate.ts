// Decompresses request bodies up to a size limit.

import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import { AppError } from '@millrace/runtime';
import type { ByteLease } from './byte-budget.ts';

/**
 * Decompresses a body. Counts the output while it is produced, so that a decompression bomb is stopped at the limit.
 * @throws AppError the error from `toError` if the body is corrupt, `too_large` if it exceeds the limit, or
 * `unavailable` if the memory budget is used up
 */
function inflate(
  bytes: Buffer,
  stream: Transform,
  options: {
    maxBytes: number;
    lease: ByteLease;
    toError(cause: Error): AppError;
  },
): Promise<Buffer> {
  const { maxBytes, lease, toError } = options;
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let total = 0;
    const fail = (error: unknown) => {
      stream.destroy();
      reject(error);
    };
    stream.on('data', (piece: Buffer) => {
      total += piece.length;
      try {
        if (total > maxBytes) throw decompressedTooLargeError(maxBytes);
        lease.take(piece.length);
        pieces.push(piece);
      } catch (error) {
        fail(error);
      }
    });
    stream.on('end', () => resolve(Buffer.concat(pieces, total)));
    stream.on('error', (cause) => fail(toError(cause)));
    stream.end(bytes);
  });
}

export function decompressedTooLargeError(maxBytes: number): AppError {
  return new AppError('too_large', `The decompressed body is larger than ${maxBytes} bytes. Send smaller batches.`, {
    code: 'request_too_large',
  });
}

/** Bodies up to this size are decompressed synchronously, because the thread pool would cost more than the work. */
const smallInputBytes = 32 * 1024;
const smallOutputBytes = 256 * 1024;

/** Returns true if the bytes start with a gzip header for deflate, which is gzip's only compression method. */
export function hasGzipMagic(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 0x08;
}

/**
 * Returns the decompressed size that is declared at the end of a gzip stream, or 0 if the body is not gzip. The
 * declaration may be wrong.
 */
export function declaredGzipSize(bytes: Buffer): number {
  return hasGzipMagic(bytes) && bytes.length >= 18 ? bytes.readUInt32LE(bytes.length - 4) : 0;
}

/**
 * @throws AppError `invalid` for a damaged or incomplete stream, `too_large` over the limit, or `unavailable` if the
 * memory budget is used up
 */
export async function gunzip(bytes: Buffer, maxBytes: number, lease: ByteLease): Promise<Buffer> {
  if (bytes.length <= smallInputBytes) {
    const inflated = gunzipSmall(bytes, Math.min(smallOutputBytes, maxBytes));
    if (inflated !== null) {
      lease.take(inflated.length);
      return inflated;
    }
  }
  return inflate(bytes, createGunzip({ chunkSize: 64 * 1024 }), { maxBytes, lease, toError: brokenGzip });
}

/** Decompresses the start of a gzip stream, which may be incomplete. Returns an empty buffer if it is damaged. */
export function gunzipStart(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const stream = createGunzip({ chunkSize: maxBytes, finishFlush: constants.Z_SYNC_FLUSH });
    const settle = (start: Buffer) => {
      stream.destroy();
      resolve(start);
    };
    stream.once('data', settle).once('end', () => settle(nothing));
    stream.on('error', () => settle(nothing));
    stream.end(bytes);
  });
}

const nothing = Buffer.alloc(0);

/** Decompresses a small body synchronously. Returns null if the output turns out to be large. */
function gunzipSmall(bytes: Buffer, maxBytes: number): Buffer | null {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw brokenGzip(error);
  }
}

function brokenGzip(cause: unknown): AppError {
  const message = 'The gzip stream in the body is incomplete or damaged. Send the request again.';
  return new AppError('invalid', message, { code: 'invalid_gzip', cause });
}

export function notGzipError(): AppError {
  const message =
    'The request declares gzip, but the body is neither gzip nor JSON. Send JSON, either uncompressed or compressed ' +
    'with gzip.';
  return new AppError('invalid', message, { code: 'invalid_gzip' });
}

const options = { chunkSize: 64 * 1024 };

/** Node.js has supported Zstandard since version 22.15. Older versions reject it like any unknown encoding. */
const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };

const decompressors = new Map<string, () => Transform>([
  ['gzip', () => zlib.createGunzip(options)],
  ['deflate', () => zlib.createInflate(options)],
  ['br', () => zlib.createBrotliDecompress(options)],
  ...(createZstdDecompress === undefined ? [] : [['zstd', () => createZstdDecompress()] as const]),
]);

/** This map omits deflate and Brotli, because their streams do not start with fixed bytes. */
const firstBytes = new Map([
  ['gzip', Buffer.from([0x1f, 0x8b])],
  ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
]);

type Decompress = (bytes: Buffer, maxBytes: number, lease: ByteLease) => Promise<Buffer>;

/**
 * Returns the decompressor for a `Content-Encoding` (docs/wire-rules.md#capture-v1). If a body does not start with the
 * first bytes of the encoding, the decompressor returns it unchanged. It rejects with AppError `invalid`
 * (`request_decoding_error`), `too_large` over the limit, or `unavailable` if the memory budget is used up.
 * @throws AppError `unsupported_media_type` (`unsupported_encoding`), before the body is read
 */
export function findDecompressor(contentEncoding: string | undefined): Decompress {
  const encoding = (contentEncoding ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return (bytes) => Promise.resolve(bytes);
  const open = decompressors.get(encoding);
  if (open === undefined) {
    throw new AppError(
      'unsupported_media_type',
      `This Content-Encoding is not supported. Send JSON, either uncompressed or with one of ${[...decompressors.keys()].join(', ')}.`,
      {
        code: 'unsupported_encoding',
      },
    );
  }
  const magic = firstBytes.get(encoding);
  // A proxy may have decompressed the body but kept the `Content-Encoding` header.
  const isEncoded = (bytes: Buffer) => magic === undefined || bytes.subarray(0, magic.length).equals(magic);
  return async (bytes, maxBytes, lease) =>
    isEncoded(bytes) ? inflate(bytes, open(), { maxBytes, lease, toError: notAsEncoded }) : bytes;
}

function notAsEncoded(cause: Error): AppError {
  const code = 'request_decoding_error';
  return new AppError('invalid', 'The body does not match its Content-Encoding, or is incomplete.', {
    code,
    cause,
  });
}
