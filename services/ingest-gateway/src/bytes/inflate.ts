import type { Transform } from 'node:stream';
import { AppError } from '@millrace/errors';
import type { ByteLease } from '../memory/byte-budget.ts';

export interface InflateOptions {
  maxBytes: number;
  lease: ByteLease;
  /** The error for a stream that cannot be decompressed. */
  toError(cause: Error): AppError;
}

/**
 * Decompresses a body. Output is counted while it appears, so a decompression bomb ends at the cap and not in memory.
 *
 * @throws AppError that of `toError`, `too_large` over the cap, `unavailable` when the memory budget is used up.
 */
export function inflate(bytes: Buffer, stream: Transform, options: InflateOptions): Promise<Buffer> {
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
