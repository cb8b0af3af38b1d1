// Forwards SDK requests that arrive at the management API to the ingest gateway.

import {
  Agent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
  type ServerResponse,
} from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { pipeline } from 'node:stream';
import { type PageRoute, toErrorBody } from '@millrace/http';
import { AppError, type Logger } from '@millrace/runtime';

export interface GatewayOptions {
  url: string;
  /** Whether a trusted proxy is in front of the API. If not, the client's `X-Forwarded-For` header is not forwarded. */
  isBehindProxy: boolean;
  timeoutMs: number;
  logger: Logger;
}

/**
 * Creates a function that forwards requests from SDKs with local flag evaluation to a gateway. The gateway knows the
 * secret keys of projects, caches flag definitions, and counts the requests toward the plan's limits.
 */
export function passToGateway(options: GatewayOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const base = new URL(options.url);
  const isSecure = base.protocol === 'https:';
  const agent = new (isSecure ? SecureAgent : Agent)({ keepAlive: true, maxSockets: 64 });
  return (request, response) => {
    const gatewayRequest = (isSecure ? requestHttps : requestHttp)(new URL(request.url ?? '/', base), {
      agent,
      method: request.method ?? 'GET',
      headers: headersFor(request, base.host, options.isBehindProxy),
      timeout: options.timeoutMs,
    });
    gatewayRequest.on('timeout', () => gatewayRequest.destroy(new Error('The gateway did not respond in time.')));
    gatewayRequest.on('error', (error) => {
      if (response.destroyed) return;
      options.logger.warn('could not forward a request for flag definitions to the gateway', { error });
      refuse(response);
    });
    gatewayRequest.on('response', (gatewayResponse) => {
      response.writeHead(gatewayResponse.statusCode ?? 502, withoutConnection(gatewayResponse.headers));
      pipeline(gatewayResponse, response, (error) => {
        if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE')
          options.logger.warn("the gateway's response was cut off", { error });
      });
    });
    response.on('close', () => gatewayRequest.destroy());
    gatewayRequest.end();
  };
}

function headersFor(request: IncomingMessage, host: string, isBehindProxy: boolean) {
  const address = request.socket.remoteAddress ?? '';
  const before = request.headers['x-forwarded-for'];
  const forwarded = isBehindProxy && before !== undefined ? `${String(before)}, ${address}` : address;
  // Omit these headers, because the requests have no body, and because Node.js has already responded to `Expect:
  // 100-continue`.
  const { 'content-length': _length, expect: _expect, ...headers } = withoutConnection(request.headers);
  return { ...headers, host, 'x-forwarded-for': forwarded };
}

/**
 * Headers that apply only to a single connection (RFC 9110, 7.6.1). Node.js throws an error if some of them contradict
 * the response.
 */
const ofConnection = new Set('connection keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(' '));

function withoutConnection(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  const named = (headers.connection ?? '').toLowerCase().split(/\s*,\s*/);
  const passed = Object.entries(headers).filter(([name]) => !ofConnection.has(name) && !named.includes(name));
  return Object.fromEntries(passed);
}

function refuse(response: ServerResponse): void {
  if (response.headersSent) return void response.destroy();
  const error = new AppError('unavailable', 'The gateway that serves flag definitions did not respond. Try again.');
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '2' });
  response.end(JSON.stringify(toErrorBody(error)));
}

const gatewayPaths = ['/flags/definitions', '/api/feature_flag/local_evaluation'];
/** Paths that both services serve: the gateway responds to SDKs, and the management API to scripts. */
const sharedPaths = ['/api/projects/:project_id', '/api/environments/:project_id'].flatMap((base) =>
  ['local_evaluation', ':id/remote_config'].map((name) => `${base}/feature_flags/${name}`),
);

/** Creates page routes for the requests that are forwarded to the gateway: flag definitions and remote config. */
export function createGatewayPages(pass: (request: IncomingMessage, response: ServerResponse) => void): PageRoute[] {
  const page: Omit<PageRoute, 'path'> = {
    methods: ['GET', 'HEAD'],
    serve({ incoming, response }) {
      // Remove all headers set so far, because the gateway's headers allow pages of any origin to read the response.
      for (const name of response.getHeaderNames()) response.removeHeader(name);
      pass(incoming, response);
    },
  };
  return [
    ...gatewayPaths.map((path) => ({ ...page, path })),
    ...sharedPaths.map((path) => ({ ...page, path, accepts: isFromSdk })),
  ];
}

/**
 * Returns true if an SDK sent the request. SDKs send a project's secret key, or the parameter `token`, which determines
 * the project that `@current` refers to. Scripts do not send `token`.
 */
function isFromSdk({ url = '', headers }: IncomingMessage): boolean {
  const query = url.split('?', 2)[1] ?? '';
  return /^Bearer\s+phs_/i.test(headers.authorization ?? '') || new URLSearchParams(query).has('token');
}
