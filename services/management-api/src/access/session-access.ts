// Who makes a request, by the session whose cookie came with it.

import { findLiveSession, hashSecret, noteSessionUse } from '@millrace/accounts/access';
import type { Sql } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { AppError, type Logger } from '@millrace/runtime';
import type { Caller } from './caller.ts';
import { coalesceLookups } from './personal-key-access.ts';
import type { GuessLimit } from './rate-limit.ts';
import { requireOwnPage, sessionOf } from './session-cookie.ts';

interface SessionAccessDeps {
  sql: Sql;
  logger: Logger;
  /** Of cookies of no session, per address. */
  guessLimit: GuessLimit;
}

/**
 * Callers known by a session (docs/api/sign-in.md): all scopes of their user, bounded by the levels. As with keys
 * nothing is cached, and requests that arrive together share a look that begins after they came.
 */
export function sessionAccess({ sql, logger, guessLimit }: SessionAccessDeps) {
  const lookUp = coalesceLookups((tokenHash) => findLiveSession(sql, tokenHash));
  return {
    /**
     * @param isUnsafe whether a GET changes something.
     * @returns null for a request without a cookie of ours.
     * @throws AppError `unauthenticated` when the session has ended; `forbidden` and `unsupported_media_type` for a write
     *   that another site's page may have sent.
     */
    async authenticate(request: ApiRequest, isUnsafe: boolean): Promise<Caller | null> {
      const secret = sessionOf(request);
      if (secret === null) return null;
      const tokenHash = hashSecret(secret);
      guessLimit.check(request.address, tokenHash);
      const session = await lookUp(tokenHash);
      if (!session) {
        await guessLimit.noteWrong(request.address);
        throw new AppError('unauthenticated', 'Your session has ended. Sign in again.');
      }
      guessLimit.noteGood(tokenHash);
      requireOwnPage(request, isUnsafe);
      if (session.is_last_seen_stale) {
        // Beside the request, which neither waits for it nor fails with it.
        noteSessionUse(sql, session.id).catch((error) =>
          logger.debug('could not record the last use of a session', { error }),
        );
      }
      const { id, expires_at: expiresAt, signed_in_at: signedInAt, method, wants } = session;
      return {
        userId: session.user_id,
        credential: { kind: 'session', id, expiresAt, signedInAt, method, wants },
        scopes: ['*'],
        scopedTeams: [],
        organizationsOfTeams: [],
        scopedOrganizations: [],
        memberships: session.memberships,
        currentEnvironmentId: session.current_environment_id,
      };
    },
  };
}
