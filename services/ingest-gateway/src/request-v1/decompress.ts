import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { AppError } from '@millrace/errors';
import { inflate } from '../bytes/inflate.ts';
import type { ByteLease } from '../memory/byte-budget.ts';

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

export type Decompress = (bytes: Buffer, maxBytes: number, lease: ByteLease) => Promise<Buffer>;

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
      `The body may be encoded as ${[...decompressors.keys()].join(', ')}.`,
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
  return new AppError('invalid', 'The body is not what its Content-Encoding says.', { code, cause });
}
