import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { statusOf, toAppError, toErrorBody } from '@millrace/http';
import { discardBody } from '../bytes/discard-body.ts';
import { endInOneWrite } from '../node-http-internals/end-in-one-write.ts';
import { corsHeaders } from './cors.ts';

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
      // A cache would go on saying so when it is no longer true: of a version that one gateway serves already and another not yet.
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
    endInOneWrite(response, body);
    return;
  }
  for (const piece of body) response.write(piece);
  response.end();
}

/** How much of a refused upload is still read, so that its sender gets to read the answer. */
const patience = { maxBytes: 40 * 1024 * 1024, maxMs: 10_000 };
const lastPatience = { maxBytes: 20 * 1024 * 1024, maxMs: 2000 };

/**
 * Sends the answer to a refused request, whatever is left of its body. A body of reasonable size is read to its end,
 * and the connection stays in use. Otherwise the answer is sent at once and the connection is closed a little later: if
 * it were closed while the client is sending, the client's system would throw the answer away.
 */
export async function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  context: SendContext,
): Promise<void> {
  if (!refusal.hasStalled && (await discardBody(request, patience))) {
    return sendAnswer(request, response, refusal, context);
  }
  if (response.destroyed) return;
  const headers = { ...refusal.headers, connection: 'close' };
  response.writeHead(refusal.status, answerHeaders(request, refusal.body, headers, context.requestId));
  response.write(refusal.body);
  await discardBody(request, lastPatience);
  response.end();
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
