// Who may call: whoever has a personal API key, or is signed in.

import { grants } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { Access } from '@millrace/http';
import { AppError, type Logger } from '@millrace/runtime';
import { type Caller, requireRecentSignIn, requireSecondFactor } from './caller.ts';
import { personalKeyAccess } from './personal-key-access.ts';
import { type GuessLimit, type RateLimit, throttled } from './rate-limit.ts';
import { sessionAccess } from './session-access.ts';

interface CallerAccessDeps {
  sql: Sql;
  logger: Logger;
  /** Of requests, per key and per session. */
  requestLimit: RateLimit;
  /** Of wrong and missing keys, per address. */
  guessLimit: GuessLimit;
  /** Of cookies of no session, per address. Absent: cookies are not looked at. */
  staleLimit?: GuessLimit | undefined;
}

/** A key is asked for on purpose, a cookie comes by itself: where there is a key, it decides. */
export function callerAccess({ requestLimit, staleLimit, ...deps }: CallerAccessDeps): Access<Caller> {
  const keys = personalKeyAccess(deps);
  const sessions = staleLimit && sessionAccess({ ...deps, guessLimit: staleLimit });
  return {
    queryParameters: ['personal_api_key'],
    async authenticate(request, isUnsafe) {
      const hasKey = request.header('authorization') !== undefined || request.query.has('personal_api_key');
      const signedIn = hasKey ? null : await sessions?.authenticate(request, isUnsafe);
      return signedIn ?? keys.authenticate(request);
    },
    authorize(caller, scope) {
      if (grants(caller.scopes, scope)) return;
      throw new AppError('forbidden', `API key missing required scope '${scope}'`);
    },
    async throttle({ credential: { kind, id } }) {
      const wait = await requestLimit.take(kind === 'key' ? id : `session:${id}`);
      if (wait === null) return;
      throw throttled(wait, `${kind === 'key' ? 'This personal API key' : 'Your session'} sent too many requests.`);
    },
    requireSecondFactor,
    requireRecent: requireRecentSignIn,
    requireLevel(target, level) {
      if (levelOf(target) >= level) return;
      throw new AppError('forbidden', 'Your organization access level is insufficient.');
    },
  };
}

/** What a route's `target` found tells the caller's level there. A route that declares a level and finds none is a bug. */
function levelOf(target: unknown): number {
  const level = (target as { level?: unknown } | null | undefined)?.level;
  if (typeof level !== 'number') throw new Error('The route declares a membership level, but its target has none.');
  return level;
}
