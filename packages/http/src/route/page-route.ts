import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiRequest } from './route.ts';

/**
 * A route outside the documented API: a page, a health probe, or another protocol. It reads the request and writes the response
 * itself, and the OpenAPI document does not list it.
 */
export interface PageRoute {
  /**
   * With `:name` for parameters, as in `Route`. A path that ends with `/*` stands for the path before it and everything below, as
   * far as no other route has a more specific path.
   */
  path: string;
  /** `any` if the page accepts every method. A page for GET that also accepts HEAD lists both. */
  methods: readonly string[] | 'any';
  /** Whether the page is for this request. Other requests get the API route of the same path, or 404. Absent: for every request. */
  accepts?: (request: IncomingMessage) => boolean;
  /** Largest request body, inflated. Default 1 MiB. */
  bodyLimitBytes?: number;
  serve: (context: PageContext) => void | Promise<void>;
}

export interface PageContext {
  request: ApiRequest;
  params: Record<string, string>;
  incoming: IncomingMessage;
  response: ServerResponse;
}
