import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/runtime';
import type { CaptureLimits } from '../config.ts';
import { type CaptureQuery, clientAddress } from '../head.ts';
import { restorePlus } from './base64-and-forms.ts';
import { type ByteLease, overloaded } from './byte-budget.ts';
import { type BodyHints, missingData } from './decode.ts';

/** A body as it came, and what the request says about it. */
export interface ReceivedBody {
  raw: Buffer;
  hints: BodyHints;
}

/**
 * The bytes of a request. Query parameter `data` stands in for the body when it is there
 * (docs/wire-rules.md#body-decoding).
 *
 * @throws AppError see `receiveBytes`; `invalid` when there is nothing.
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
    /** Told the size of the body as it came over the wire. */
    onReceived(bytes: number): void;
  },
): Promise<ReceivedBody> {
  const { maxBodyBytes, bodyTimeoutMs } = limits;
  // Each limit is named: `limits` is the whole frozen config, and spreading it costs 12 µs a request.
  const body = await receiveBytes(request, { maxBodyBytes, bodyTimeoutMs, lease, uploads });
  const raw = query.data === null ? body : Buffer.from(restorePlus(query.data), 'utf8');
  onReceived(raw.length);
  if (raw.length === 0) throw missingData();
  const hints = query.data === null ? hintsOf(request, query) : { ...noHints, compression: query.compression };
  return { raw, hints };
}

const noHints: BodyHints = { compression: null, contentType: '', contentEncoding: '' };

function hintsOf({ headers }: IncomingMessage, { compression }: CaptureQuery): BodyHints {
  return {
    compression,
    contentType: (headers['content-type'] ?? '').toLowerCase(),
    contentEncoding: (headers['content-encoding'] ?? '').toLowerCase(),
  };
}

interface ReceiveOptions {
  maxBodyBytes: number;
  /** The longest pause between two pieces of the upload. */
  bodyTimeoutMs: number;
  lease: ByteLease;
  uploads: Uploads;
}

/**
 * Reads the raw body. A body that arrives together with its headers, the usual case, is not copied.
 *
 * @throws AppError `too_large` over the cap, `timeout` when the upload stalls, `unavailable` when the memory budget is
 * used up, `invalid` (`client_closed`) when the client goes away. The rest of the body is left unread.
 */
export async function receiveBytes(request: IncomingMessage, options: ReceiveOptions): Promise<Buffer> {
  const declared = declaredLength(request);
  if (declared > options.maxBodyBytes) throw bodyTooLarge(options.maxBodyBytes);
  // What came together with the headers is there a microtask after the request was announced.
  await undefined;
  if (request.readableLength !== declared) return receivePieces(request, declared, options);
  options.lease.take(declared);
  const body = request.read() as Buffer | null;
  // Its end has to be seen too before the connection is used again.
  request.resume();
  return body ?? nothing;
}

const nothing = Buffer.alloc(0);

/** With listeners and a time limit, which cost as much as all the rest of a small request does. */
function receivePieces(request: IncomingMessage, declared: number, options: ReceiveOptions): Promise<Buffer> {
  const { maxBodyBytes, bodyTimeoutMs, lease, uploads } = options;
  return new Promise((resolve, reject) => {
    // It grows with what arrives: whoever only announces a large body costs nothing.
    let body: Buffer = Buffer.allocUnsafeSlow(Math.min(declared || firstBytes, firstBytes));
    let received = 0;
    const timer = setTimeout(() => fail(uploads.isWaiting(request) ? overloaded() : uploadStalled()), bodyTimeoutMs);

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
      // Nobody waits for an error after this point, but it must not end the process.
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

/** The bodies that are being received or drained, all of which share one event loop. */
export interface Uploads {
  /** To be told of every piece of a body: it may have to pause until it is its turn again. */
  notePiece(request: IncomingMessage, bytes: number): void;
  /** Whether it is paused. */
  isWaiting(request: IncomingMessage): boolean;
}

/** What is read of all uploads together in one turn: about a millisecond of work. The rest of the time is for others. */
const bytesPerTurn = 1024 * 1024;
const turnMs = 2;
/** How many of those that wait go on at a time: one piece of each fills the turn. */
const resumedPerTurn = 16;

/**
 * When many upload at once, only a few of them are read at a time, address by address, and of one address the one that was
 * begun first. Small requests and probes are served in between, and what others have begun to send stays with them:
 * neither this process nor the system holds it.
 */
export function createUploads(trustProxy: boolean): Uploads {
  /** By address, in the order in which they go on. */
  const lines = new Map<string, IncomingMessage[]>();
  const waiting = new WeakSet<IncomingMessage>();
  const begun = new WeakSet<IncomingMessage>();
  let readBytes = 0;
  let isTurnEnding = false;

  function endTurn(): void {
    readBytes = 0;
    for (let resumed = 0; resumed < resumedPerTurn; resumed++) {
      const [next] = lines;
      if (next === undefined) break;
      const [address, line] = next;
      lines.delete(address);
      const request = line.shift();
      if (line.length > 0) lines.set(address, line);
      if (request === undefined) continue;
      begun.add(request);
      waiting.delete(request);
      request.resume();
    }
    isTurnEnding = lines.size > 0;
    if (isTurnEnding) setTimeout(endTurn, turnMs);
  }

  return {
    notePiece(request, bytes) {
      readBytes += bytes;
      if (!isTurnEnding) {
        isTurnEnding = true;
        setTimeout(endTurn, turnMs);
      }
      if (readBytes <= bytesPerTurn) return;
      request.pause();
      waiting.add(request);
      const address = clientAddress(request.headers, request.socket.remoteAddress, trustProxy) ?? '';
      const line = lines.get(address) ?? [];
      lines.set(address, line);
      if (begun.has(request)) line.unshift(request);
      else line.push(request);
    },
    isWaiting: (request) => waiting.has(request),
  };
}

interface DiscardLimits {
  maxBytes: number;
  maxMs: number;
}

/**
 * Reads the rest of a body and throws it away, within limits. Many clients read no answer while they are still sending,
 * and the connection can only be used again after the last byte.
 *
 * @returns true when the body has ended.
 */
export function discardBody(request: IncomingMessage, limits: DiscardLimits, uploads: Uploads): Promise<boolean> {
  if (request.readableEnded) return Promise.resolve(true);
  if (request.destroyed || declaredLength(request) > limits.maxBytes) return Promise.resolve(false);
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
