// Receives a request body within the limits on size, time and memory.

import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/runtime';
import type { CaptureLimits } from '../config.ts';
import type { CaptureQuery } from '../request-head.ts';
import { restorePlusSigns } from './base64-and-forms.ts';
import { type ByteLease, overloadedError } from './byte-budget.ts';
import { missingDataError, type ReceivedBody } from './decode.ts';
import type { Uploads } from './uploads.ts';

/**
 * Receives a request's body, or the query parameter `data` instead (docs/wire-rules.md#body-decoding).
 * @throws the errors of `receiveBytes`, or AppError `invalid` if the request has no data
 */
export async function receiveBody(
  request: IncomingMessage,
  query: CaptureQuery,
  {
    limits,
    lease,
    uploads,
    onReceived,
  }: {
    limits: Pick<CaptureLimits, 'maxBodyBytes' | 'bodyTimeoutMs'>;
    lease: ByteLease;
    uploads: Uploads;
    onReceived(bytes: number): void;
  },
): Promise<ReceivedBody> {
  const { maxBodyBytes, bodyTimeoutMs } = limits;
  // Do not spread `limits`: it is the complete frozen config, and spreading it costs 12 µs per request.
  const body = await receiveBytes(request, { maxBodyBytes, bodyTimeoutMs, lease, uploads });
  const raw = query.data === null ? body : Buffer.from(restorePlusSigns(query.data), 'utf8');
  onReceived(raw.length);
  if (raw.length === 0) throw missingDataError();
  // The headers do not describe the payload in the query parameter `data`.
  const headers = query.data === null ? request.headers : {};
  const hints = {
    compression: query.compression,
    contentType: (headers['content-type'] ?? '').toLowerCase(),
    contentEncoding: (headers['content-encoding'] ?? '').toLowerCase(),
  };
  return { raw, hints };
}

interface ReceiveOptions {
  maxBodyBytes: number;
  /** The maximum time between two chunks in milliseconds. */
  bodyTimeoutMs: number;
  lease: ByteLease;
  uploads: Uploads;
}

/**
 * Reads a body without decoding it. A body that arrives together with its headers, as most do, is not copied. Stops
 * reading after an error.
 * @throws AppError `too_large` over the limit, `timeout` if the upload stalls, `unavailable` if the memory budget is
 * used up, or `invalid` (`client_closed`) if the client disconnects
 */
export async function receiveBytes(request: IncomingMessage, options: ReceiveOptions): Promise<Buffer> {
  const declared = readContentLength(request);
  if (declared > options.maxBodyBytes) throw bodyTooLarge(options.maxBodyBytes);
  // A body that arrived together with the headers is available one microtask after the `request` event.
  await undefined;
  if (request.readableLength !== declared) return receivePieces(request, declared, options);
  options.lease.take(declared);
  const body = request.read() as Buffer | null;
  // The connection can be reused only after the whole body has been read.
  request.resume();
  return body ?? nothing;
}

const nothing = Buffer.alloc(0);

/**
 * Receives a body that arrives in several chunks. Only such a body needs the listeners and the timer. For a small
 * request, they would double the cost.
 */
function receivePieces(request: IncomingMessage, declared: number, options: ReceiveOptions): Promise<Buffer> {
  const { maxBodyBytes, bodyTimeoutMs, lease, uploads } = options;
  return new Promise((resolve, reject) => {
    // Grow the buffer as chunks arrive, so that a client cannot reserve memory by declaring a large body without
    // sending it.
    let body: Buffer = Buffer.allocUnsafeSlow(Math.min(declared || firstBytes, firstBytes));
    let received = 0;
    const timer = setTimeout(
      () => fail(uploads.isPaused(request) ? overloadedError() : uploadStalled()),
      bodyTimeoutMs,
    );

    function onData(piece: Buffer): void {
      const end = received + piece.length;
      try {
        if (end > maxBodyBytes) throw bodyTooLarge(maxBodyBytes);
        lease.take(piece.length);
      } catch (error) {
        fail(error);
        return;
      }
      if (end > body.length) body = grown(body, received, Math.max(end, Math.min(4 * end, declared || maxBodyBytes)));
      piece.copy(body, received);
      received = end;
      timer.refresh();
      uploads.notePiece(request, piece.length);
    }
    function onEnd(): void {
      detach();
      resolve(body.subarray(0, received));
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
      // Without a listener, an `error` event after this line would crash the process.
      request.on('error', () => {});
    }
    request.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  });
}

const firstBytes = 256 * 1024;

function grown(body: Buffer, received: number, bytes: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(bytes);
  body.copy(larger, 0, 0, received);
  return larger;
}

/** Returns the declared body size in bytes, or NaN for a chunked body. Comparing NaN with a limit is always false. */
export function readContentLength(request: IncomingMessage): number {
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

interface DiscardLimits {
  maxBytes: number;
  maxMs: number;
}

/**
 * Reads and discards the remaining body, within limits. Many clients read the response only after they have sent
 * everything, and the connection can be reused only after the last byte.
 * @returns true if the whole body was read
 */
export function discardBody(request: IncomingMessage, limits: DiscardLimits, uploads: Uploads): Promise<boolean> {
  if (request.readableEnded) return Promise.resolve(true);
  if (request.destroyed || readContentLength(request) > limits.maxBytes) return Promise.resolve(false);
  return new Promise((resolve) => {
    let discarded = 0;
    const timer = setTimeout(() => settle(false), limits.maxMs);
    const onData = (piece: Buffer) => {
      discarded += piece.length;
      if (discarded > limits.maxBytes) settle(false);
      else uploads.notePiece(request, piece.length);
    };
    const onEnd = () => settle(true);
    const onClose = () => settle(false);
    function settle(hasEnded: boolean): void {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      if (!hasEnded) request.pause();
      resolve(hasEnded);
    }
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    request.resume();
  });
}
