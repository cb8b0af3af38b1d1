import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { statusOf, toAppError, toErrorBody } from '@millrace/http';
import { declaredLength, discardBody, type Uploads } from '../body/receive.ts';
/** JSON text, empty for none; a long one may come as its bytes, in pieces. */
export type AnswerBody = string | readonly Buffer[];

export interface Answer {
  status: number;
  body: AnswerBody;
  headers: OutgoingHttpHeaders;
}

export interface Refusal extends Answer {
  body: string;
  code: string;
  /** True when the rest of the body will not come, so that nobody waits for it. */
  hasStalled: boolean;
}

/** The answer to a request that was refused or failed: JSON for people; SDKs look at the status only. */
export function toRefusal(error: unknown): Refusal {
  const known = toAppError(error);
  const errorBody = toErrorBody(known);
  const seconds = known.retryAfterSeconds ?? (known.kind === 'unavailable' ? 1 : undefined);
  return {
    status: statusOf(known.kind),
    code: errorBody.code,
    body: JSON.stringify(errorBody),
    headers: {
      // Must not be cached: during a rollout another gateway may already serve this path.
      'cache-control': 'no-store',
      // Without the second a browser keeps the first from the page.
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
  /** True while the server stops: the connection ends with this answer. */
  isLast: boolean;
}

/** Sends an answer whose request has been read to its end. */
export function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: Answer,
  { requestId, isLast }: SendContext,
): void {
  response.writeHead(
    status,
    answerHeaders(request, body, { ...headers, ...(isLast ? { connection: 'close' } : {}) }, requestId),
  );
  if (typeof body === 'string') {
    response.end(body);
    return;
  }
  for (const piece of body) response.write(piece);
  response.end();
}

/** How much of a refused upload is still read, so that its sender gets to read the answer. */
const patience = { maxBytes: 40 * 1024 * 1024, maxMs: 10_000 };
/** The same of an upload that is too large for that anyway, or has stopped. */
const lastPatience = { maxBytes: 20 * 1024 * 1024, maxMs: 2000 };

/**
 * Sends the answer to a refused request at once, whatever is left of its body. A body of reasonable size is then read to
 * its end, and the connection stays in use. Otherwise the connection is closed a little later: if it were closed while
 * the client is sending, the client's system would throw the answer away.
 */
export async function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  { requestId, isLast, uploads }: SendContext & { uploads: Uploads },
): Promise<void> {
  if (request.readableEnded) return sendAnswer(request, response, refusal, { requestId, isLast });
  if (response.destroyed) return;
  const isReadOn = !refusal.hasStalled && !(declaredLength(request) > patience.maxBytes);
  const headers = isReadOn && !isLast ? refusal.headers : { ...refusal.headers, connection: 'close' };
  response.writeHead(refusal.status, answerHeaders(request, refusal.body, headers, requestId));
  response.write(refusal.body);
  const hasEnded = await discardBody(request, isReadOn ? patience : lastPatience, uploads);
  response.end();
  if (!hasEnded) request.socket.destroySoon();
}

function answerHeaders(
  request: IncomingMessage,
  body: AnswerBody,
  headers: OutgoingHttpHeaders,
  requestId: string,
): OutgoingHttpHeaders {
  const all: OutgoingHttpHeaders = corsHeaders(request);
  if (body !== '') {
    all['content-type'] = 'application/json';
    all['content-length'] = byteLengthOf(body);
    all['x-content-type-options'] = 'nosniff';
  }
  all['x-request-id'] = requestId;
  return Object.assign(all, headers);
}

function byteLengthOf(body: AnswerBody): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, { length }) => sum + length, 0);
}

const vary = 'origin, access-control-request-method, access-control-request-headers';

/**
 * Headers without which a browser hides an answer from the page, also an error. Any origin is welcome and repeated as
 * sent (`null` of sandboxed pages too): with credentials, which browser SDKs use, `*` is refused.
 * (docs/wire-rules.md#cors)
 */
export function corsHeaders(request: IncomingMessage): OutgoingHttpHeaders {
  const { origin } = request.headers;
  if (origin === undefined) return { vary };
  return { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', vary };
}

/** Everything a preflight asks for is allowed. A list of allowed headers has broken tracing tools again and again. */
export function preflightHeaders(request: IncomingMessage): OutgoingHttpHeaders {
  const requested = request.headers['access-control-request-headers'];
  return {
    ...corsHeaders(request),
    'access-control-allow-methods': 'GET,POST,OPTIONS',
    ...(requested === undefined ? {} : { 'access-control-allow-headers': requested }),
  };
}
