import type { IncomingMessage } from 'node:http';
import { addressOf, originOf } from './forwarded.ts';

/** What handlers may see of a request. */
export interface ApiRequest {
  /** From `X-Request-Id` or made here; also in the answer and in the log. */
  id: string;
  method: string;
  /** Scheme and host under which the caller reached us, without a trailing slash. */
  baseUrl: string;
  /** The path as the caller wrote it, with or without its trailing slash. */
  path: string;
  /** IP address of the client as far as it can be trusted; empty when the connection is gone. */
  address: string;
  query: URLSearchParams;
  header(name: string): string | undefined;
  /**
   * The parsed JSON body, `{}` when empty; read once. Only for a caller who is known: it may be large.
   * @throws AppError, see `createJsonBodyReader`.
   */
  body(): Promise<unknown>;
  /** The same as far as anybody may have it read: small and not compressed. @throws AppError. */
  smallBody(): Promise<unknown>;
}

interface RequestSource {
  id: string;
  /** The path of the address (`pathOf`). */
  path: string;
  /** Fixed address for links; else the request's own host is used. */
  publicUrl: string | undefined;
  trustedProxies: number;
  readBody: () => Promise<unknown>;
  readSmallBody: () => Promise<unknown>;
}

export function toApiRequest(
  request: IncomingMessage,
  { id, path, publicUrl, trustedProxies, readBody, readSmallBody }: RequestSource,
): ApiRequest {
  const url = request.url ?? '';
  const queryStart = url.indexOf('?');
  let body: Promise<unknown> | undefined;
  let smallBody: Promise<unknown> | undefined;
  return {
    id,
    method: request.method ?? '',
    baseUrl: publicUrl?.replace(/\/+$/, '') ?? originOf(request, trustedProxies),
    path,
    address: addressOf(request, trustedProxies),
    query: new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1)),
    header: (name) => {
      const value = request.headers[name.toLowerCase()];
      return Array.isArray(value) ? value[0] : value;
    },
    body: () => {
      body ??=
        smallBody?.catch((error) => (request.readableDidRead ? Promise.reject(error) : readBody())) ?? readBody();
      return body;
    },
    smallBody: () => {
      smallBody ??= readSmallBody();
      return smallBody;
    },
  };
}
