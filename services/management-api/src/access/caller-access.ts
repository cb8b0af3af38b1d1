// Authenticates callers with a personal API key or a session.

import { includesScope } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { Access } from '@millrace/http';
import { AppError, type Logger } from '@millrace/runtime';
import { type Caller, requireRecentSignIn, requireSecondFactor } from './caller.ts';
import { createPersonalKeyAccess } from './personal-key-access.ts';
import { createThrottledError, type GuessLimit, type RateLimit } from './rate-limit.ts';
import { createSessionAccess } from './session-access.ts';

interface CallerAccessDeps {
  sql: Sql;
  logger: Logger;
  requestLimit: RateLimit;
  guessLimit: GuessLimit;
  /** Limits requests with invalid sessions per IP address. If absent, cookies are ignored. */
  staleLimit?: GuessLimit | undefined;
}

/**
 * Creates the access check. A key takes precedence over a session, because clients send a key intentionally and
 * browsers send cookies automatically.
 */
export function createCallerAccess({ requestLimit, staleLimit, ...deps }: CallerAccessDeps): Access<Caller> {
  const keys = createPersonalKeyAccess(deps);
  const sessions = staleLimit && createSessionAccess({ ...deps, guessLimit: staleLimit });
  return {
    queryParameters: ['personal_api_key'],
    async authenticate(request, isUnsafe) {
      const hasKey = request.header('authorization') !== undefined || request.query.has('personal_api_key');
      const signedIn = hasKey ? null : await sessions?.authenticate(request, isUnsafe);
      return signedIn ?? keys.authenticate(request);
    },
    authorize(caller, scope) {
      if (includesScope(caller.scopes, scope)) return;
      throw new AppError('forbidden', `API key missing required scope '${scope}'`);
    },
    async throttle({ credential: { kind, id } }) {
      const wait = await requestLimit.take(kind === 'key' ? id : `session:${id}`);
      if (wait === null) return;
      throw createThrottledError(
        wait,
        `${kind === 'key' ? 'This personal API key' : 'Your session'} sent too many requests.`,
      );
    },
    requireSecondFactor,
    requireRecent: requireRecentSignIn,
    requireLevel(target, level) {
      if (levelOf(target) >= level) return;
      throw new AppError('forbidden', 'Your organization access level is insufficient.');
    },
  };
}

/**
 * Returns the caller's level from the result of a route's `target`. Fails if the route declares a level and its target
 * has none, because that is a bug in the route.
 */
function levelOf(target: unknown): number {
  const level = (target as { level?: unknown } | null | undefined)?.level;
  if (typeof level !== 'number') throw new Error('The route declares a membership level, but its target has none.');
  return level;
}
