import type { IncomingMessage } from 'node:http';

/** Version 00 of the W3C recommendation; all zeros mean that there is no trace. */
const traceparent = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Headers under which the records of a request are found again in its trace; undefined when it belongs to none. */
export function traceHeaders(request: Pick<IncomingMessage, 'headers'>): Record<string, string> | undefined {
  const sent = request.headers.traceparent;
  return typeof sent === 'string' && traceparent.test(sent) ? { traceparent: sent } : undefined;
}
