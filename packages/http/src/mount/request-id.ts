import { randomUUID } from 'node:crypto';

/** The caller's own id when it is one we can safely log and send back, else a new one. */
export function requestIdFrom(header: unknown): string {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : randomUUID();
}
