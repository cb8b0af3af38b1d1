import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const acceptable = /^[\w.:-]{1,128}$/;
const processId = randomBytes(6).toString('hex');
let count = 0;

/** The id under which a request is found in the logs: the caller's `X-Request-Id` when it is harmless, else our own. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  if (typeof sent === 'string' && acceptable.test(sent)) return sent;
  count += 1;
  return `${processId}-${count.toString(36)}`;
}
