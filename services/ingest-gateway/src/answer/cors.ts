import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

const vary = 'origin, access-control-request-method, access-control-request-headers';

/**
 * Headers without which a browser hides an answer from the page, also an error. Any origin is welcome and repeated as
 * sent (`null` of sandboxed pages too): with credentials, which browser SDKs use, `*` is refused.
 * (docs/wire-rules.md#cors)
 */
export function corsHeaders(request: IncomingMessage): OutgoingHttpHeaders {
  const { origin } = request.headers;
  if (origin === undefined) return { vary };
  return { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', vary };
}

/** Everything a preflight asks for is allowed. A list of allowed headers has broken tracing tools again and again. */
export function preflightHeaders(request: IncomingMessage): OutgoingHttpHeaders {
  const requested = request.headers['access-control-request-headers'];
  return {
    ...corsHeaders(request),
    'access-control-allow-methods': 'GET,POST,OPTIONS',
    ...(requested === undefined ? {} : { 'access-control-allow-headers': requested }),
  };
}
