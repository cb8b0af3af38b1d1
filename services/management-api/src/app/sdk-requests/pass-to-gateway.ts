import {
  Agent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
  type ServerResponse,
} from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { pipeline } from 'node:stream';
import { toErrorBody } from '@millrace/http';
import { AppError, type Logger } from '@millrace/runtime';

export interface GatewayOptions {
  /** Address of a gateway. */
  url: string;
  /** False: what a client says of proxies in front of it is not passed on. */
  isBehindProxy: boolean;
  timeoutMs: number;
  logger: Logger;
}

/**
 * Hands the requests of SDKs that evaluate flags by themselves to a gateway. It knows secret keys of projects, remembers definitions
 * and counts them against the plan. On one host a path alone does not tell these requests from those of scripts.
 */
export function passToGateway(options: GatewayOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const base = new URL(options.url);
  const isSecure = base.protocol === 'https:';
  const agent = new (isSecure ? SecureAgent : Agent)({ keepAlive: true, maxSockets: 64 });
  return (request, response) => {
    const asked = (isSecure ? requestHttps : requestHttp)(new URL(request.url ?? '/', base), {
      agent,
      method: request.method ?? 'GET',
      headers: headersFor(request, base.host, options.isBehindProxy),
      timeout: options.timeoutMs,
    });
    asked.on('timeout', () => asked.destroy(new Error('The gateway did not respond in time.')));
    asked.on('error', (error) => {
      // Whoever asked has left.
      if (response.destroyed) return;
      options.logger.warn('could not forward a request for flag definitions to the gateway', { error });
      refuse(response);
    });
    asked.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, withoutConnection(answer.headers));
      pipeline(answer, response, (error) => {
        if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE')
          options.logger.warn("the gateway's response was cut off", { error });
      });
    });
    response.on('close', () => asked.destroy());
    asked.end();
  };
}

function headersFor(request: IncomingMessage, host: string, isBehindProxy: boolean) {
  const address = request.socket.remoteAddress ?? '';
  const before = request.headers['x-forwarded-for'];
  const forwarded = isBehindProxy && before !== undefined ? `${String(before)}, ${address}` : address;
  // A question has no body, and who waited for leave to send one has got it already.
  const { 'content-length': _length, expect: _expect, ...headers } = withoutConnection(request.headers);
  return { ...headers, host, 'x-forwarded-for': forwarded };
}

/** Headers that are about one connection (RFC 9110, 7.6.1). Of some of them Node throws where they do not fit. */
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

/** Paths that only the gateway has. */
const ofGateway = /^\/(?:flags\/definitions|api\/feature_flag\/local_evaluation)\/?$/;
/** Paths that both have: the gateway for SDKs, this API for scripts. */
const ofBoth = /^\/api\/(?:projects|environments)\/[^/]+\/feature_flags\/(?:local_evaluation|[^/]+\/remote_config)\/?$/;

/**
 * Whether a request for definitions or remote configuration is an SDK's: it has a secret key of the project, or names the project
 * by `token`, which scripts do not and which then decides what `@current` is.
 */
export function isOfSdk({ method, url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const [path = '', query = ''] = url.split('?', 2);
  if (ofGateway.test(path)) return true;
  if (!ofBoth.test(path)) return false;
  return /^Bearer\s+phs_/i.test(headers.authorization ?? '') || new URLSearchParams(query).has('token');
}
