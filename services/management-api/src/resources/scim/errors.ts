// Errors in SCIM's own form (RFC 7644, 3.12).

import type { ApiRequest } from '@millrace/http';
import { type AppError, isAppError, type Logger } from '@millrace/runtime';
import { type Answer, schemas } from './protocol.ts';

const statuses: Partial<Record<AppError['kind'], number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  unavailable: 503,
};
const scimTypes = new Set(['invalidFilter', 'invalidPath', 'invalidSyntax', 'invalidValue', 'mutability']);

/** What failed here is told by an id that is in the log. */
export function errorAnswer(error: unknown, { logger, request }: { logger: Logger; request: ApiRequest }): Answer {
  const known = isAppError(error) ? error : null;
  const status = known && statuses[known.kind];
  if (known === null || status === null || status === undefined) {
    logger.error('a request of SCIM failed', { error, requestId: request.id, path: request.path });
    return { status: 500, body: scimError(500, `A server error occurred (${request.id}).`) };
  }
  const { retryAfterSeconds } = known;
  // The name of a role that is taken is no wrong value but one that is there.
  const isTaken = known.code === 'unique' && known.attr === 'name';
  if (isTaken) return { status: 409, body: scimError(409, 'There is a group with this name.', 'uniqueness') };
  return {
    status,
    body: scimError(status, known.message, typeOf(known)),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

function typeOf({ kind, code }: AppError): string | undefined {
  if (kind === 'conflict') return code === 'uniqueness' ? code : undefined;
  if (kind !== 'invalid') return undefined;
  if (code !== undefined && scimTypes.has(code)) return code;
  return code === 'parse_error' ? 'invalidSyntax' : 'invalidValue';
}

function scimError(status: number, detail: string, scimType?: string) {
  return { schemas: [schemas.error], status: String(status), ...(scimType && { scimType }), detail };
}
