import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import { AppError } from '@millrace/runtime';
import type { ByteLease } from './byte-budget.ts';

/**
 * Decompresses a body. Output is counted while it appears, so a decompression bomb ends at the cap and not in memory.
 *
 * @throws AppError that of `toError`, `too_large` over the cap, `unavailable` when the memory budget is used up.
 */
function inflate(
  bytes: Buffer,
  stream: Transform,
  options: {
    maxBytes: number;
    lease: ByteLease;
    /** The error for a stream that cannot be decompressed. */
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
        if (total > maxBytes) throw decompressedTooLarge(maxBytes);
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

export function decompressedTooLarge(maxBytes: number): AppError {
  return new AppError('too_large', `The decompressed body is larger than ${maxBytes} bytes. Send smaller batches.`, {
    code: 'request_too_large',
  });
}

/** Small bodies are inflated in this thread: handing them to the thread pool costs more than the work. */
const smallInputBytes = 32 * 1024;
const smallOutputBytes = 256 * 1024;

/** True for the first bytes of a gzip stream with the deflate method, the only one there is. */
export function hasGzipMagic(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 0x08;
}

/** How long the inflated body is by what the stream says at its end; 0 when it is no gzip stream. Senders may lie. */
export function claimedSize(bytes: Buffer): number {
  return hasGzipMagic(bytes) && bytes.length >= 18 ? bytes.readUInt32LE(bytes.length - 4) : 0;
}

/**
 * Inflates a gzip body.
 *
 * @throws AppError `invalid` for a stream that is broken or cut short, `too_large` over the cap, `unavailable` when the
 * memory budget is used up.
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

/** The first of what a stream, of which there may be only the start, inflates to. Nothing of one that is broken. */
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

/** Null when the output is too large for this way. */
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

/** For a body that is only said to be gzip. */
export function noGzip(): AppError {
  const message =
    'The request declares gzip, but the body is neither gzip nor JSON. Send JSON, either uncompressed or compressed ' +
    'with gzip.';
  return new AppError('invalid', message, { code: 'invalid_gzip' });
}

const options = { chunkSize: 64 * 1024 };

/** Zstandard came to Node.js with 22.15; before that it is refused like any unknown encoding. */
const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };

const decompressors = new Map<string, () => Transform>([
  ['gzip', () => zlib.createGunzip(options)],
  ['deflate', () => zlib.createInflate(options)],
  ['br', () => zlib.createBrotliDecompress(options)],
  ...(createZstdDecompress === undefined ? [] : [['zstd', () => createZstdDecompress()] as const]),
]);

/** Streams of deflate and br do not begin with bytes by which they could be told from text. */
const firstBytes = new Map([
  ['gzip', Buffer.from([0x1f, 0x8b])],
  ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
]);

type Decompress = (bytes: Buffer, maxBytes: number, lease: ByteLease) => Promise<Buffer>;

/**
 * What undoes a `Content-Encoding` (docs/wire-rules.md#capture-v1); a body without the first bytes of its encoding
 * is taken as it is. The result rejects with AppError `invalid`
 * (`request_decoding_error`), `too_large` over the cap, `unavailable` when the memory budget is used up.
 *
 * @throws AppError `unsupported_media_type` (`unsupported_encoding`), to be known before the body is read.
 */
export function decompressorOf(contentEncoding: string | undefined): Decompress {
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
  // A proxy may have undone the encoding and left its name.
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
