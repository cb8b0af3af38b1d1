/** Starts an HTTP server, with the routes and headers that every service has. */

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type Health, type ListenOptions, listen, type Stoppable } from '@millrace/runtime';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { createConnectionDrain } from './drain-connections.ts';

export interface ServeOptions extends ListenOptions {
  /** How long requests in progress may take to finish once stopping began. */
  drainTimeoutMs: number;
  /** For how long new connections are still served then, each with one answer. Default 0. */
  stopGraceMs?: number;
}

const maxHeaders = 1000;

/**
 * True for a request with more than 1,000 headers. Node.js 20 silently drops the headers after its own limit, and newer
 * releases refuse the request. To behave the same on every release, set a server's `maxHeadersCount` to 0 (no limit)
 * and answer such a request with 431.
 */
export const hasTooManyHeaders = ({ rawHeaders }: IncomingMessage): boolean => rawHeaders.length > 2 * maxHeaders;

/** Listens. `stop` lets requests in progress finish and takes no new connections, then cuts what is left. */
export async function serve(
  listener: RequestListener,
  { drainTimeoutMs, stopGraceMs = 0, ...where }: ServeOptions,
): Promise<Stoppable & { port: number }> {
  const server = createServer((request, response) => {
    connections.note(response);
    if (hasTooManyHeaders(request)) return void response.writeHead(431, { connection: 'close' }).end();
    listener(request, response);
  });
  server.maxHeadersCount = 0;
  const connections = createConnectionDrain(server, { graceMs: stopGraceMs, timeoutMs: drainTimeoutMs });
  // Longer than the idle time of common load balancers, so that it is they who close.
  server.keepAliveTimeout = 75_000;
  server.requestTimeout = 60_000;
  return { port: await listen(server, where), stop: connections.drain };
}

/** Answers `/_liveness`, `/_readiness` and `/metrics` on the service's own port, in front of everything else. */
export function healthRoutes(health: Health): RequestHandler {
  return async (request, response, next) => {
    const answer = request.method === 'GET' || request.method === 'HEAD' ? await health.answer(request.path) : null;
    if (answer === null) return next();
    response.statusCode = answer.status;
    response.setHeader('Content-Type', answer.contentType);
    response.setHeader('Cache-Control', 'no-store');
    response.end(answer.body);
  };
}

/** Sets the response headers of a service that only ever answers data, never a page. */
export function securityHeaders(): (response: ServerResponse) => void {
  const headers = constantHeaders();
  return (response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
  };
}

/** What helmet sets, asked once: it is the same for every request, and asking goes through fourteen functions. */
function constantHeaders(): [string, string][] {
  const headers: [string, string][] = [];
  const recorder = {
    setHeader: (name: string, value: string) => void headers.push([name, value]),
    removeHeader: () => {},
  } as unknown as ServerResponse;
  const setHeaders = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { 'default-src': ["'none'"] } },
  });
  setHeaders({} as IncomingMessage, recorder, (error) => {
    if (error) throw error;
  });
  return headers;
}
