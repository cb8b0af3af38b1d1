import { createGunzip, gunzipSync } from 'node:zlib';
import { AppError } from '@millrace/errors';
import type { ByteLease } from '../limits/byte-budget.ts';

/** Small bodies are inflated on the spot: a trip through the thread pool costs more than the work. */
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
 * Inflates a gzip body. Output is counted while it appears, so that a bomb ends at the cap and not in memory.
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
  return gunzipLarge(bytes, maxBytes, lease);
}

/** Null when the output is too large for this way. */
function gunzipSmall(bytes: Buffer, maxBytes: number): Buffer | null {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw brokenGzip(error);
  }
}

function gunzipLarge(bytes: Buffer, maxBytes: number, lease: ByteLease): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let inflatedBytes = 0;
    const stream = createGunzip({ chunkSize: 64 * 1024 });
    const fail = (error: unknown) => {
      stream.destroy();
      reject(error);
    };
    stream.on('data', (piece: Buffer) => {
      inflatedBytes += piece.length;
      try {
        if (inflatedBytes > maxBytes) throw decompressedTooLarge(maxBytes);
        lease.take(piece.length);
        pieces.push(piece);
      } catch (error) {
        fail(error);
      }
    });
    stream.on('end', () => resolve(Buffer.concat(pieces, inflatedBytes)));
    stream.on('error', (error) => fail(brokenGzip(error)));
    stream.end(bytes);
  });
}

export function decompressedTooLarge(maxBytes: number): AppError {
  return new AppError('too_large', `The decompressed body is larger than ${maxBytes} bytes. Send smaller batches.`, {
    code: 'request_too_large',
  });
}

function brokenGzip(cause: unknown): AppError {
  return new AppError('invalid', 'The body is not a complete gzip stream.', { code: 'invalid_gzip', cause });
}
