import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from '../route/api-request.ts';
import { addressOf, originOf } from './forwarded.ts';

interface RequestSource {
  id: string;
  /** The path of the address (`pathOf`). */
  path: string;
  /** Fixed address for links; else the request's own host is used. */
  publicUrl: string | undefined;
  trustedProxies: number;
  readBody: () => Promise<unknown>;
  readSmallBody: () => Promise<unknown>;
  readForm: ApiRequest['form'];
}

export function toApiRequest(
  request: IncomingMessage,
  { id, path, publicUrl, trustedProxies, readBody, readSmallBody, readForm }: RequestSource,
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
    form: readForm,
  };
}
