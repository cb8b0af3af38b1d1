/** Starts an HTTP server with the routes and headers that all services share. */

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { AppError, type Health, type ListenOptions, listen, type Stoppable } from '@millrace/runtime';
import helmet from 'helmet';
import type { PageRoute } from '../route/page-route.ts';
import { createConnectionDrain } from './drain-connections.ts';

export interface ServeOptions extends ListenOptions {
  drainTimeoutMs: number;
  /**
   * Milliseconds that new connections are accepted after the shutdown begins. Each of these connections serves one
   * request. The default is 0.
   */
  stopGraceMs?: number;
}

const maxHeaders = 1000;

/**
 * Returns whether a request has more than 1,000 headers. Node.js 20 silently drops headers beyond its limit, and newer
 * releases reject the request. To behave the same on every release, a server must set `maxHeadersCount` to 0 (no limit)
 * and respond to such a request with 431.
 */
export const hasTooManyHeaders = ({ rawHeaders }: IncomingMessage): boolean => rawHeaders.length > 2 * maxHeaders;

/**
 * Starts to listen. The returned `stop` refuses new connections, lets requests in progress finish, and then closes the
 * remaining connections.
 */
export async function startHttpServer(
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
  // Longer than the idle timeout of common load balancers, so that the load balancer closes idle connections first.
  server.keepAliveTimeout = 75_000;
  server.requestTimeout = 60_000;
  return { port: await listen(server, where), stop: connections.drain };
}

export function createHealthPages(health: Health): PageRoute[] {
  return ['/_liveness', '/_readiness', '/metrics'].map((path) => ({
    path,
    methods: ['GET', 'HEAD'],
    async serve({ response }) {
      const healthResponse = await health.respond(path);
      if (healthResponse === null) throw new AppError('not_found', 'Endpoint not found.');
      response.statusCode = healthResponse.status;
      response.setHeader('Content-Type', healthResponse.contentType);
      response.setHeader('Cache-Control', 'no-store');
      response.end(healthResponse.body);
    },
  }));
}

export function createSecurityHeaders(): (response: ServerResponse) => void {
  const headers = constantHeaders();
  return (response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
  };
}

/**
 * Returns the headers that helmet sets. They are the same for every request, but helmet would run fourteen functions
 * each time.
 */
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
