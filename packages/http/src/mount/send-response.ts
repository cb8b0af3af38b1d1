/** Sends a response or an error to the socket. */

import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Logger, Metrics } from '@millrace/runtime';
import { toAppError, toErrorBody, toHttpStatus } from '../errors/error-body.ts';

export interface ResponseContent {
  status: number;
  value?: unknown;
  text?: { mediaType: string; content: string };
  stream?: { mediaType: string; begin(output: Writable): void };
  headers?: Record<string, string | string[]>;
}

/**
 * Event that is emitted when a stream begins. The measured duration of a stream request ends with this event, because
 * the stream lasts as long as the client stays connected.
 */
const streamBegins = Symbol('stream begins');

export function beginResponse(
  response: ServerResponse,
  { operation, id, allow }: { operation: string; id: string; allow: string | undefined },
  routeMetrics: RouteMetrics,
): void {
  const startedAt = process.hrtime.bigint();
  const observe = () =>
    routeMetrics.observe(operation, response.statusCode, Number(process.hrtime.bigint() - startedAt) / 1e9);
  response.once('close', observe);
  response.once(streamBegins, () => {
    response.off('close', observe);
    observe();
  });
  response.setHeader('X-Request-Id', id);
  // Append to `Vary` instead of replacing it, because earlier handlers may have added other header names to it.
  response.appendHeader('Vary', 'Accept, Authorization, Prefer');
  response.setHeader('Cache-Control', 'no-store');
  if (allow !== undefined) response.setHeader('Allow', allow);
}

export function sendResponse(
  response: ServerResponse,
  { status, value, text, stream, headers = {} }: ResponseContent,
): void {
  for (const [name, content] of Object.entries(headers)) response.setHeader(name, content);
  if (stream !== undefined) sendStream(response, status, stream);
  else if (text === undefined) send(response, status, value);
  else sendText(response, status, text);
}

export function sendError(
  response: ServerResponse,
  error: unknown,
  { operation, id, logger }: { operation: string; id: string; logger: Logger },
): void {
  const known = toAppError(error);
  const status = toHttpStatus(known.kind);
  const body = toErrorBody(known);
  if (status >= 500) {
    // An unexpected error is always logged at level `error`. For an unavailable dependency, `warn` is enough, because
    // health checks report it too.
    const level = known.kind === 'internal' ? 'error' : 'warn';
    logger.log(level, 'request failed', { requestId: id, operation, status, error: known, ...known.details });
    body.error_event_id = id;
  }
  for (const [name, content] of Object.entries(known.headers)) response.setHeader(name, content);
  if (known.retryAfterSeconds !== undefined) {
    response.setHeader('Retry-After', String(Math.ceil(known.retryAfterSeconds)));
  }
  send(response, status, body);
}

function send(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent || response.destroyed) return;
  response.statusCode = status;
  if (value === undefined) {
    if (status !== 204) response.setHeader('Content-Length', '0');
    response.end();
    return;
  }
  sendText(response, status, { mediaType: 'application/json', content: JSON.stringify(value) });
}

function sendText(
  response: ServerResponse,
  status: number,
  { mediaType, content }: { mediaType: string; content: string },
): void {
  if (response.headersSent || response.destroyed) return;
  response.statusCode = status;
  response.setHeader('Content-Type', mediaType);
  response.setHeader('Content-Length', String(Buffer.byteLength(content)));
  // Node.js combines the headers and the body into one write if the body is a string, but not if it is a buffer.
  response.end(content);
}

function sendStream(
  response: ServerResponse,
  status: number,
  { mediaType, begin }: NonNullable<ResponseContent['stream']>,
): void {
  if (!response.destroyed) {
    response.statusCode = status;
    response.setHeader('Content-Type', mediaType);
    response.flushHeaders();
    response.emit(streamBegins);
  }
  // Call `begin` even if the client has disconnected, so that the handler can release its resources.
  begin(response);
}

interface RouteMetrics {
  /**
   * Counts a response and its duration.
   * @param operation an operation ID, or one of a few fixed words for requests that matched no route
   */
  observe(operation: string, status: number, seconds: number): void;
}

export function createRouteMetrics(metrics: Metrics): RouteMetrics {
  const duration = metrics.histogram(
    'millrace_http_request_seconds',
    'Time from the request line to the last byte of the response, in seconds',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ['operation', 'status'],
  );
  return {
    observe: (operation, status, seconds) =>
      duration.observe({ operation, status: `${Math.floor(status / 100)}xx` }, seconds),
  };
}
