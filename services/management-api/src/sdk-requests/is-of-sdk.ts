import type { IncomingMessage } from 'node:http';

/** Paths that only the gateway has. */
const ofGateway = /^\/(?:flags\/definitions|api\/feature_flag\/local_evaluation)\/?$/;
/** Paths that both have: the gateway for SDKs, this API for scripts. */
const ofBoth = /^\/api\/(?:projects|environments)\/[^/]+\/feature_flags\/(?:local_evaluation|[^/]+\/remote_config)\/?$/;

/**
 * Whether a request for definitions or remote configuration is an SDK's: it has a secret key of the project, or names the project
 * by `token`, which scripts do not and which then decides what `@current` is.
 */
export function isOfSdk({ method, url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const [path = '', query = ''] = url.split('?', 2);
  if (ofGateway.test(path)) return true;
  if (!ofBoth.test(path)) return false;
  return /^Bearer\s+phs_/i.test(headers.authorization ?? '') || new URLSearchParams(query).has('token');
}
