import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Response headers of a service that only ever answers data, never a page. */
export function securityHeaders(): RequestHandler {
  return helmet({ contentSecurityPolicy: { useDefaults: false, directives: { 'default-src': ["'none'"] } } });
}
