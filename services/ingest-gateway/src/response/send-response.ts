// Sends responses and errors with the headers that browsers need.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { toAppError, toErrorBody, toHttpStatus } from '@millrace/http';
import { discardBody, readContentLength } from '../body/receive.ts';
import type { Uploads } from '../body/uploads.ts';

/** JSON, or an empty string for no body. A long body can be split into several buffers. */
export type GatewayResponseBody = string | readonly Buffer[];

export interface GatewayResponse {
  status: number;
  body: GatewayResponseBody;
  headers: OutgoingHttpHeaders;
}

export interface Refusal extends GatewayResponse {
  body: string;
  code: string;
  /** Whether the upload has stalled. The gateway then does not wait for the remaining body. */
  hasStalled: boolean;
}

/**
 * Creates the response to a request that was rejected or failed. Its JSON is for developers. SDKs read only the status.
 */
export function toRefusal(error: unknown): Refusal {
  const known = toAppError(error);
  const errorBody = toErrorBody(known);
  const seconds = known.retryAfterSeconds ?? (known.kind === 'unavailable' ? 1 : undefined);
  return {
    status: toHttpStatus(known.kind),
    code: errorBody.code,
    body: JSON.stringify(errorBody),
    headers: {
      // During an upgrade, another gateway may already support this path, so the response must not be cached.
      'cache-control': 'no-store',
      // Browsers hide `Retry-After` from scripts unless this header exposes it.
      ...(seconds === undefined
        ? {}
        : { 'retry-after': String(seconds), 'access-control-expose-headers': 'retry-after' }),
      ...(known.kind === 'method_not_allowed' ? { allow: 'GET, POST, OPTIONS' } : {}),
    },
    hasStalled: known.kind === 'timeout',
  };
}

export interface SendContext {
  requestId: string;
  /** Whether the server is shutting down. The connection is closed after this response. */
  isLast: boolean;
}

/** Sends the response to a request whose body has been read completely. */
export function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: GatewayResponse,
  { requestId, isLast }: SendContext,
): void {
  response.writeHead(
    status,
    responseHeaders(request, body, { ...headers, ...(isLast ? { connection: 'close' } : {}) }, requestId),
  );
  if (typeof body === 'string') {
    response.end(body);
    return;
  }
  for (const piece of body) response.write(piece);
  response.end();
}

/** How much of a rejected upload is still read, so that the client can read the response. */
const discardLimits = { maxBytes: 40 * 1024 * 1024, maxMs: 10_000 };
/** Replaces `discardLimits` if the upload has stalled or declares a larger body. */
const shortDiscardLimits = { maxBytes: 20 * 1024 * 1024, maxMs: 2000 };

/**
 * Sends the response to a rejected request immediately, before the complete body has arrived. Then reads a body of
 * normal size to its end and keeps the connection open. After a larger body, closes the connection with a delay: if it
 * were closed while the client is sending, the client's operating system would discard the response.
 */
export async function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  { requestId, isLast, uploads }: SendContext & { uploads: Uploads },
): Promise<void> {
  if (request.readableEnded) return sendResponse(request, response, refusal, { requestId, isLast });
  if (response.destroyed) return;
  const isReadOn = !refusal.hasStalled && !(readContentLength(request) > discardLimits.maxBytes);
  const headers = isReadOn && !isLast ? refusal.headers : { ...refusal.headers, connection: 'close' };
  response.writeHead(refusal.status, responseHeaders(request, refusal.body, headers, requestId));
  response.write(refusal.body);
  const hasEnded = await discardBody(request, isReadOn ? discardLimits : shortDiscardLimits, uploads);
  response.end();
  if (!hasEnded) request.socket.destroySoon();
}

function responseHeaders(
  request: IncomingMessage,
  body: GatewayResponseBody,
  headers: OutgoingHttpHeaders,
  requestId: string,
): OutgoingHttpHeaders {
  const all: OutgoingHttpHeaders = createCorsHeaders(request);
  if (body !== '') {
    all['content-type'] = 'application/json';
    all['content-length'] = byteLengthOf(body);
    all['x-content-type-options'] = 'nosniff';
  }
  all['x-request-id'] = requestId;
  return Object.assign(all, headers);
}

function byteLengthOf(body: GatewayResponseBody): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, { length }) => sum + length, 0);
}

const vary = 'origin, access-control-request-method, access-control-request-headers';

/**
 * Creates the headers that allow pages of all origins to read the response, including errors. They repeat the origin as
 * it was sent (including `null` of sandboxed pages), because browsers reject `*` for requests with credentials, which
 * browser SDKs send (docs/wire-rules.md#cors).
 */
export function createCorsHeaders(request: IncomingMessage): OutgoingHttpHeaders {
  const { origin } = request.headers;
  if (origin === undefined) return { vary };
  return { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', vary };
}

/** Allows everything that a preflight requests. Fixed lists of allowed headers have repeatedly broken tracing tools. */
export function createPreflightHeaders(request: IncomingMessage): OutgoingHttpHeaders {
  const requested = request.headers['access-control-request-headers'];
  return {
    ...createCorsHeaders(request),
    'access-control-allow-methods': 'GET,POST,OPTIONS',
    ...(requested === undefined ? {} : { 'access-control-allow-headers': requested }),
  };
}
