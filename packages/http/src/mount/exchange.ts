import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, type Logger, type Metrics } from '@millrace/runtime';

import { statusOf, toAppError, toErrorBody } from '../errors/error-body.ts';
import type { ApiRequest } from '../route/route.ts';
import { readForm } from './read-form.ts';
import type { JsonBodyReader } from './read-json-body.ts';
import { requestIdFrom, toApiRequest } from './to-api-request.ts';

export interface Answer {
  status: number;
  /** Absent: no body. */
  value?: unknown;
  /** Instead of `value`. */
  text?: { mediaType: string; content: string };
  headers?: Record<string, string>;
}

export interface ExchangeDeps {
  logger: Logger;
  routeMetrics: RouteMetrics;
  bodies: JsonBodyReader;
  /** Largest request body, inflated; of a form without its file. */
  bodyLimitBytes: number;
  publicUrl: string | undefined;
  trustedProxies: number;
  translateError: (error: unknown) => AppError | null;
}

/**
 * Runs `work` for one request and sends its answer or its error: request id, headers, time, the log line of a failure.
 *
 * @param operation metric label and the name in the log.
 */
export async function exchange(
  { operation, allow }: { operation: string; allow?: string },
  deps: ExchangeDeps,
  { request, response, path }: { request: IncomingMessage; response: ServerResponse; path: string },
  work: (apiRequest: ApiRequest) => Promise<Answer>,
): Promise<void> {
  const startedAt = process.hrtime.bigint();
  const id = requestIdFrom(request.headers['x-request-id']);
  response.once('close', () => {
    deps.routeMetrics.observe(operation, response.statusCode, Number(process.hrtime.bigint() - startedAt) / 1e9);
  });
  response.setHeader('X-Request-Id', id);
  response.setHeader('Vary', 'Accept, Authorization, Prefer');
  response.setHeader('Cache-Control', 'no-store');
  if (allow !== undefined) response.setHeader('Allow', allow);
  try {
    const apiRequest = toApiRequest(request, {
      id,
      path,
      publicUrl: deps.publicUrl,
      trustedProxies: deps.trustedProxies,
      readBody: () => deps.bodies.read(request, response),
      readSmallBody: () => deps.bodies.readSmall(request),
      readForm: (file) => readForm(request, file, deps.bodyLimitBytes),
    });
    const { status, value, text, headers = {} } = await work(apiRequest);
    for (const [name, content] of Object.entries(headers)) response.setHeader(name, content);
    if (text === undefined) send(response, status, value);
    else sendText(response, status, text);
  } catch (error) {
    sendError(error, { operation, id }, deps, response);
  }
}

function sendError(
  error: unknown,
  { operation, id }: { operation: string; id: string },
  deps: ExchangeDeps,
  response: ServerResponse,
): void {
  const known = toAppError(error instanceof AppError ? error : (deps.translateError(error) ?? error));
  const status = statusOf(known.kind);
  const body = toErrorBody(known);
  if (status >= 500) {
    // An unforeseen error wants somebody now; an unavailable dependency reports itself.
    const level = known.kind === 'internal' ? 'error' : 'warn';
    deps.logger.log(level, 'a request failed', { requestId: id, operation, status, error: known, ...known.details });
    body.error_event_id = id;
  }
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
  // A text goes out in one piece with the head, bytes would not.
  response.end(content);
}

interface RouteMetrics {
  /** @param operation an operationId, or one of the few fixed words for requests that met no route. */
  observe(operation: string, status: number, seconds: number): void;
}

/** Counts and times every answer; the histogram's own count is the number of requests. */
export function createRouteMetrics(metrics: Metrics): RouteMetrics {
  const duration = metrics.histogram(
    'millrace_http_request_seconds',
    'From the request line to the last byte of the answer',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ['operation', 'status'],
  );
  return {
    observe: (operation, status, seconds) =>
      duration.observe({ operation, status: `${Math.floor(status / 100)}xx` }, seconds),
  };
}
