import { createGunzip, gunzipSync } from 'node:zlib';
import { AppError } from '@millrace/errors';
import type { ByteLease } from '../memory/byte-budget.ts';
import { inflate } from './inflate.ts';

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

/** Null when the output is too large for this way. */
function gunzipSmall(bytes: Buffer, maxBytes: number): Buffer | null {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw brokenGzip(error);
  }
}

export function brokenGzip(cause?: unknown): AppError {
  return new AppError('invalid', 'The body is not a complete gzip stream.', { code: 'invalid_gzip', cause });
}
