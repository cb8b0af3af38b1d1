import type { Request } from 'express';

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
  /** The parsed JSON body, `{}` when empty; read once. @throws AppError, see `readJsonBody`. */
  body(): Promise<unknown>;
}

/** @param publicUrl fixed address for links; else the request's own host is used. */
export function toApiRequest(
  request: Request,
  { id, publicUrl, readBody }: { id: string; publicUrl: string | undefined; readBody: () => Promise<unknown> },
): ApiRequest {
  const queryStart = request.originalUrl.indexOf('?');
  let body: Promise<unknown> | undefined;
  return {
    id,
    method: request.method,
    baseUrl: publicUrl?.replace(/\/+$/, '') ?? `${request.protocol}://${safeHost(request.host)}`,
    path: request.baseUrl + request.path,
    address: request.ip ?? '',
    query: new URLSearchParams(queryStart < 0 ? '' : request.originalUrl.slice(queryStart + 1)),
    header: (name) => {
      const value = request.headers[name.toLowerCase()];
      return Array.isArray(value) ? value[0] : value;
    },
    body: () => {
      body ??= readBody();
      return body;
    },
  };
}

/** A `Host` header may hold anything; links are only built from what can be a host. */
function safeHost(host: string | undefined): string {
  return host && /^(\[[0-9a-fA-F:.]+\]|[\w.-]+)(:\d{1,5})?$/.test(host) ? host : 'localhost';
}
