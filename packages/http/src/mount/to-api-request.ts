/**
 * Converts a Node.js request to the request that handlers get. Determines its ID, and the address and origin of the
 * client, also behind proxies.
 */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from '../route/route.ts';

interface RequestSource {
  id: string;
  /** The path of the request URL (`pathOf`). */
  path: string;
  /** The fixed base URL of links. If it is not set, the host of the request is used. */
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
    baseUrl: configuredUrl ?? originOf(request, trustedProxies),
    publicUrl: configuredUrl ?? null,
    path,
    address: addressOf(request, trustedProxies),
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
 * Returns the scheme and host that the client used: those of the request, or those in `X-Forwarded-Proto` and
 * `X-Forwarded-Host`.
 * @param trustedProxies the number of our own proxies. If it is 0, these headers are not trusted.
 */
export function originOf(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = (name: string) => (trustedProxies > 0 ? firstOf(request.headers[name]) : undefined);
  const protocol = forwarded('x-forwarded-proto') ?? ('encrypted' in request.socket ? 'https' : 'http');
  return `${protocol}://${safeHost(forwarded('x-forwarded-host') ?? request.headers.host)}`;
}

/**
 * Returns the IP address of the client. Each of our proxies appends the address from which it was called to
 * `X-Forwarded-For`. The client wrote the entries before these, and they are not trusted. The result is empty if the
 * connection is closed.
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

/** Returns the host if it is valid. A `Host` header can contain anything, so links are built only from valid hosts. */
function safeHost(host: string | undefined): string {
  return host && /^(\[[0-9a-fA-F:.]+\]|[\w.-]+)(:\d{1,5})?$/.test(host) ? host : 'localhost';
}

/** Returns the ID in the header if it is safe to log and return. Otherwise, returns a new ID. */
export function requestIdFrom(header: unknown): string {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : randomUUID();
}
