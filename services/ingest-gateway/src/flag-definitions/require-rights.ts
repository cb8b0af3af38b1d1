import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/errors';
import type { BearerRights, Rights } from './bearer-rights.ts';

/** The key of an `Authorization: Bearer` header. @throws AppError `unauthenticated` without one. */
export function requireBearer({ headers }: IncomingMessage): string {
  const [, bearer] = /^Bearer\s+(\S.*)$/i.exec(headers.authorization?.trim() ?? '') ?? [];
  if (bearer !== undefined) return bearer.trim();
  throw new AppError('unauthenticated', 'Authentication credentials were not provided.');
}

/** @throws AppError `unauthenticated` for a key that is nobody's, `forbidden` for one that may not, `unavailable`. */
export async function requireRights(bearer: string, environmentId: number, rights: BearerRights): Promise<void> {
  const refusal = refusalOf(await rights.of(bearer, environmentId));
  if (refusal !== null) throw refusal;
}

function refusalOf(rights: Rights): AppError | null {
  switch (rights) {
    case 'allowed':
      return null;
    case 'bad_secret':
      return wrong('Secret API token is invalid.');
    case 'bad_key':
      return wrong('Personal API key found in request Authorization header is invalid.');
    case 'no_scope':
      return new AppError('forbidden', "API key missing required scope 'feature_flag:read'");
    case 'no_access':
      return new AppError('forbidden', 'API key does not have access to the requested project.');
  }
}

function wrong(message: string): AppError {
  return new AppError('unauthenticated', message, { code: 'authentication_failed' });
}
