// Authenticates requests from a signed-in browser by their session.

import { findLiveSession, hashSecret, recordSessionUse } from '@millrace/accounts/access';
import type { Sql } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { AppError, type Logger } from '@millrace/runtime';
import type { Caller } from './caller.ts';
import { coalesceLookups } from './personal-key-access.ts';
import type { GuessLimit } from './rate-limit.ts';
import { readSessionCookie, requireOwnPage } from './session-cookie.ts';

interface SessionAccessDeps {
  sql: Sql;
  logger: Logger;
  guessLimit: GuessLimit;
}

/**
 * Authenticates callers by a session (docs/api/sign-in.md). A session has all scopes, limited by the user's levels. As
 * with personal API keys, nothing is cached, and concurrent requests share one lookup, which begins after they arrive.
 */
export function createSessionAccess({ sql, logger, guessLimit }: SessionAccessDeps) {
  const lookUp = coalesceLookups((tokenHash) => findLiveSession(sql, tokenHash));
  return {
    /**
     * Finds the caller by the request's session.
     * @param isUnsafe true if a GET request changes something
     * @returns null for a request without a session
     * @throws AppError `unauthenticated` if the session has ended, or `forbidden` or `unsupported_media_type` for a
     *   write that another site's page may have sent
     */
    async authenticate(request: ApiRequest, isUnsafe: boolean): Promise<Caller | null> {
      const secret = readSessionCookie(request);
      if (secret === null) return null;
      const tokenHash = hashSecret(secret);
      guessLimit.check(request.address, tokenHash);
      const session = await lookUp(tokenHash);
      if (!session) {
        await guessLimit.recordFailure(request.address);
        throw new AppError('unauthenticated', 'Your session has ended. Sign in again.');
      }
      guessLimit.recordSuccess(tokenHash);
      requireOwnPage(request, isUnsafe);
      if (session.is_last_seen_stale) {
        // Record the session's use in the background, so that the request does not wait for the write and succeeds even
        // if the write fails.
        recordSessionUse(sql, session.id).catch((error) =>
          logger.debug('could not record the last use of a session', { error }),
        );
      }
      const { id, expires_at: expiresAt, signed_in_at: signedInAt, method, wants } = session;
      return {
        userId: session.user_id,
        credential: { kind: 'session', id, expiresAt, signedInAt, method, wants },
        scopes: ['*'],
        scopedEnvironments: [],
        organizationsOfEnvironments: [],
        scopedOrganizations: [],
        memberships: session.memberships,
        currentEnvironmentId: session.current_environment_id,
      };
    },
  };
}
