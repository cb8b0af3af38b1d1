import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiRequest } from './route.ts';

/**
 * A route that the API documentation does not contain: a page, a health probe, or another protocol. It reads the
 * request and writes the response itself.
 */
export interface PageRoute {
  /**
   * The path, with `:name` for parameters, as in `Route`. If it ends with `/*`, it matches the path before that and
   * everything below, unless another route has a more specific path.
   */
  path: string;
  /** The methods that the page accepts, or `any` for all. A page for GET that also accepts HEAD lists both. */
  methods: readonly string[] | 'any';
  /**
   * Returns whether the page is for this request. Other requests get the API route of the same path, or 404. If absent,
   * the page is for every request.
   */
  accepts?: (request: IncomingMessage) => boolean;
  /** The maximum size of the request body after decompression. The default is 1 MiB. */
  bodyLimitBytes?: number;
  serve: (context: PageContext) => void | Promise<void>;
}

export interface PageContext {
  request: ApiRequest;
  params: Record<string, string>;
  incoming: IncomingMessage;
  response: ServerResponse;
}
