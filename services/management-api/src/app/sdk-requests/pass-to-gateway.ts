// Forwards SDK requests that arrive at the management API to the ingest gateway, which serves them.

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
  /** The URL of a gateway. */
  url: string;
  /** Whether there is a trusted proxy. If not, the client's own `X-Forwarded-For` is not passed on. */
  isBehindProxy: boolean;
  timeoutMs: number;
  logger: Logger;
}

/**
 * Creates a function that passes requests of SDKs with local flag evaluation to a gateway, which knows the secret keys
 * of projects, caches definitions and counts the requests against the plan.
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
      // The client has disconnected.
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
  // The requests have no body, and Node has already responded to `Expect: 100-continue`.
  const { 'content-length': _length, expect: _expect, ...headers } = withoutConnection(request.headers);
  return { ...headers, host, 'x-forwarded-for': forwarded };
}

/**
 * The headers that apply only to a single connection (RFC 9110, 7.6.1). Node throws an error if some of them contradict
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

/** The paths that only the gateway serves. */
const gatewayPaths = ['/flags/definitions', '/api/feature_flag/local_evaluation'];
/** The paths that both services serve: the gateway for SDKs, and this API for scripts. */
const sharedPaths = ['/api/projects/:project_id', '/api/environments/:project_id'].flatMap((base) =>
  ['local_evaluation', ':id/remote_config'].map((name) => `${base}/feature_flags/${name}`),
);

/** Creates page routes for the requests for flag definitions and remote configuration that the gateway serves. */
export function gatewayPages(pass: (request: IncomingMessage, response: ServerResponse) => void): PageRoute[] {
  const page: Omit<PageRoute, 'path'> = {
    methods: ['GET', 'HEAD'],
    serve({ incoming, response }) {
      // Remove all headers set so far, because the response has only the headers of the gateway, which pages of any
      // origin can read.
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
 * Returns whether a request comes from an SDK, because it has a secret key of the project, or identifies the project by
 * `token`. Scripts do not send `token`. For SDKs, `token` determines what `@current` refers to.
 */
function isFromSdk({ url = '', headers }: IncomingMessage): boolean {
  const query = url.split('?', 2)[1] ?? '';
  return /^Bearer\s+phs_/i.test(headers.authorization ?? '') || new URLSearchParams(query).has('token');
}
