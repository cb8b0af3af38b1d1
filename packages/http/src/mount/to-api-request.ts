/** A request of Node as a handler is given it: its id, and the address and origin it came from, also behind proxies. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from '../route/route.ts';

interface RequestSource {
  id: string;
  /** The path of the address (`pathOf`). */
  path: string;
  /** Fixed address for links; else the request's own host is used. */
  publicUrl: string | undefined;
  trustedProxies: number;
  leaves: () => AbortSignal;
  readBody: () => Promise<unknown>;
  readSmallBody: () => Promise<unknown>;
  readForm: ApiRequest['form'];
}

export function toApiRequest(
  request: IncomingMessage,
  { id, path, publicUrl, trustedProxies, leaves, readBody, readSmallBody, readForm }: RequestSource,
): ApiRequest {
  const url = request.url ?? '';
  const configuredUrl = publicUrl?.replace(/\/+$/, '');
  const queryStart = url.indexOf('?');
  let body: Promise<unknown> | undefined;
  let smallBody: Promise<unknown> | undefined;
  return {
    id,
    method: request.method ?? '',
    baseUrl: configuredUrl ?? originOf(request, trustedProxies),
    publicUrl: configuredUrl ?? null,
    path,
    address: addressOf(request, trustedProxies),
    query: new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1)),
    header: (name) => {
      const value = request.headers[name.toLowerCase()];
      return Array.isArray(value) ? value[0] : value;
    },
    leaves,
    body: () => {
      body ??=
        smallBody?.catch((error) => (request.readableDidRead ? Promise.reject(error) : readBody())) ?? readBody();
      return body;
    },
    smallBody: () => {
      smallBody ??= readSmallBody();
      return smallBody;
    },
    form: readForm,
  };
}

/**
 * Scheme and host under which the client reached us: those of the request, or what the first of our proxies noted in
 * `X-Forwarded-Proto` and `X-Forwarded-Host`.
 * @param trustedProxies how many proxies of ours are in front; without one these headers are anybody's.
 */
export function originOf(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = (name: string) => (trustedProxies > 0 ? firstOf(request.headers[name]) : undefined);
  const protocol = forwarded('x-forwarded-proto') ?? ('encrypted' in request.socket ? 'https' : 'http');
  return `${protocol}://${safeHost(forwarded('x-forwarded-host') ?? request.headers.host)}`;
}

/**
 * IP address of the client: each of our proxies has added the one it saw to the end of `X-Forwarded-For`. What stands
 * further left was written by whoever sent the request. Empty when the connection is gone.
 */
export function addressOf(request: IncomingMessage, trustedProxies: number): string {
  const own = request.socket.remoteAddress ?? '';
  if (trustedProxies === 0) return own;
  const noted = String(request.headers['x-forwarded-for'] ?? '').split(',');
  const addresses = [own, ...noted.map((text) => text.trim()).reverse()].filter((text) => text !== '');
  return addresses[Math.min(trustedProxies, addresses.length - 1)] ?? '';
}

function firstOf(header: string | string[] | undefined): string | undefined {
  const first = String(header ?? '')
    .split(',')[0]
    ?.trim();
  return first === '' ? undefined : first;
}

/** A `Host` header may hold anything; links are only built from what can be a host. */
function safeHost(host: string | undefined): string {
  return host && /^(\[[0-9a-fA-F:.]+\]|[\w.-]+)(:\d{1,5})?$/.test(host) ? host : 'localhost';
}

/** The caller's own id when it is one we can safely log and send back, else a new one. */
export function requestIdFrom(header: unknown): string {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : randomUUID();
}
