/**
 * Converts a Node.js request to the request that handlers receive. Determines the request ID, and the client's IP
 * address and origin, also behind proxies.
 */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from '../route/route.ts';

interface RequestSource {
  id: string;
  path: string;
  /** Fixed base URL for links. If undefined, links use the host of the request. */
  publicUrl: string | undefined;
  trustedProxies: number;
  disconnectSignal: () => AbortSignal;
  readBody: () => Promise<unknown>;
  readSmallBody: () => Promise<unknown>;
  readForm: ApiRequest['form'];
}

export function toApiRequest(
  request: IncomingMessage,
  { id, path, publicUrl, trustedProxies, disconnectSignal, readBody, readSmallBody, readForm }: RequestSource,
): ApiRequest {
  const url = request.url ?? '';
  const configuredUrl = publicUrl?.replace(/\/+$/, '');
  const queryStart = url.indexOf('?');
  let body: Promise<unknown> | undefined;
  let smallBody: Promise<unknown> | undefined;
  return {
    id,
    method: request.method ?? '',
    baseUrl: configuredUrl ?? readClientOrigin(request, trustedProxies),
    publicUrl: configuredUrl ?? null,
    path,
    address: readClientAddress(request, trustedProxies),
    query: new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1)),
    header: (name) => {
      const value = request.headers[name.toLowerCase()];
      return Array.isArray(value) ? value[0] : value;
    },
    disconnectSignal,
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
 * Returns the scheme and host that the client used. Reads them from the request, or behind trusted proxies from
 * `X-Forwarded-Proto` and `X-Forwarded-Host`.
 * @param trustedProxies number of the operator's own proxies. If it is 0, these headers are not trusted.
 */
export function readClientOrigin(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = (name: string) => (trustedProxies > 0 ? firstOf(request.headers[name]) : undefined);
  const protocol = forwarded('x-forwarded-proto') ?? ('encrypted' in request.socket ? 'https' : 'http');
  return `${protocol}://${safeHost(forwarded('x-forwarded-host') ?? request.headers.host)}`;
}

/**
 * Returns the client's IP address, or an empty string if the connection is closed. Each trusted proxy appends the IP
 * address of its caller to `X-Forwarded-For`. Any addresses before those come from the client and are not trusted.
 */
export function readClientAddress(request: IncomingMessage, trustedProxies: number): string {
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

/** Returns the `Host` header if it is valid. Links must not contain an invalid host from a client. */
function safeHost(host: string | undefined): string {
  return host && /^(\[[0-9a-fA-F:.]+\]|[\w.-]+)(:\d{1,5})?$/.test(host) ? host : 'localhost';
}

/** Returns the request ID in the header if it is safe to log and return. Otherwise, returns a new ID. */
export function requestIdFrom(header: unknown): string {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : randomUUID();
}
