import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiRequest } from './route.ts';

/**
 * A route outside the API documentation: a page, a health probe, or another protocol. The route reads the request and
 * writes the response itself.
 */
export interface PageRoute {
  /**
   * Path of the route, with `:name` for parameters, as in `Route`. A path that ends with `/*` matches the path before
   * the `/*` and everything under it, unless another route has a more specific path.
   */
  path: string;
  /** Methods that the page accepts, or `any` for all methods. A page that accepts GET and HEAD must list both. */
  methods: readonly string[] | 'any';
  /**
   * Returns whether the page serves this request. If it does not, the API route of the same path does, or the response
   * is 404. Without this function, the page serves every request.
   */
  accepts?: (request: IncomingMessage) => boolean;
  /** The maximum request body size after decompression. The default is 1 MiB. */
  bodyLimitBytes?: number;
  serve: (context: PageContext) => void | Promise<void>;
}

export interface PageContext {
  request: ApiRequest;
  params: Record<string, string>;
  incoming: IncomingMessage;
  response: ServerResponse;
}
