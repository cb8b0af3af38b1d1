import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/errors';
import type { ByteLease } from '../memory/byte-budget.ts';

export interface ReceiveOptions {
  maxBodyBytes: number;
  /** The longest pause between two pieces of the upload. */
  bodyTimeoutMs: number;
  lease: ByteLease;
}

/**
 * Reads the raw body. A body that arrives in one piece, the usual case, is not copied.
 *
 * @returns the body itself when all of it is there. What came together with the head is, a microtask after the request
 * was told of.
 * @throws AppError `too_large` over the cap, `timeout` when the upload stalls, `unavailable` when the memory budget is
 * used up, `invalid` (`client_closed`) when the client goes away. The rest of the body is left unread.
 */
export function receiveBytes(request: IncomingMessage, options: ReceiveOptions): Buffer | Promise<Buffer> {
  const declared = declaredLength(request);
  if (declared > options.maxBodyBytes) throw bodyTooLarge(options.maxBodyBytes);
  if (request.readableLength !== declared) return receivePieces(request, options);
  options.lease.take(declared);
  const body = request.read() as Buffer | null;
  // Its end has to be seen too before the connection is used again.
  request.resume();
  return body ?? nothing;
}

const nothing = Buffer.alloc(0);

/** With listeners and a time limit, which cost as much as all the rest of a small request does. */
function receivePieces(request: IncomingMessage, options: ReceiveOptions): Promise<Buffer> {
  const { maxBodyBytes, bodyTimeoutMs, lease } = options;
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let received = 0;
    const timer = setTimeout(() => fail(uploadStalled()), bodyTimeoutMs);

    function onData(piece: Buffer): void {
      received += piece.length;
      try {
        if (received > maxBodyBytes) throw bodyTooLarge(maxBodyBytes);
        lease.take(piece.length);
        pieces.push(piece);
        timer.refresh();
      } catch (error) {
        fail(error);
      }
    }
    function onEnd(): void {
      detach();
      const [only] = pieces;
      resolve(only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces, received));
    }
    function onClose(): void {
      fail(
        new AppError('invalid', 'The connection was closed before the body was complete.', { code: 'client_closed' }),
      );
    }
    function fail(error: unknown): void {
      detach();
      reject(error);
    }
    function detach(): void {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose);
      // Nobody waits for an error after this point, but it must not end the process.
      request.on('error', () => {});
    }
    request.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  });
}

/** The announced size of the body in bytes; NaN (never above a limit) when it comes in chunks. */
export function declaredLength(request: IncomingMessage): number {
  const text = request.headers['content-length'];
  if (text !== undefined) return Number(text);
  return request.headers['transfer-encoding'] === undefined ? 0 : Number.NaN;
}

function bodyTooLarge(maxBodyBytes: number): AppError {
  return new AppError('too_large', `The request body is larger than ${maxBodyBytes} bytes. Send smaller batches.`, {
    code: 'request_too_large',
  });
}

function uploadStalled(): AppError {
  return new AppError('timeout', 'The upload stopped before the body was complete.', { code: 'upload_stalled' });
}
