import { hashPersonalApiKey } from '@millrace/accounts';
import { findLiveKey, noteKeyUse } from '@millrace/accounts/access';
import { grants } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { Access } from '@millrace/http';
import type { Logger } from '@millrace/runtime';
import type { Caller } from './caller.ts';
import { coalesceLookups } from './coalesce-lookups.ts';
import { findPersonalKey, type GivenKey } from './find-personal-key.ts';
import type { GuessLimit } from './guess-limit.ts';
import { type RateLimit, throttled } from './rate-limit.ts';

export interface PersonalKeyAccessDeps {
  sql: Sql;
  logger: Logger;
  /** Of requests, per key. */
  requestLimit: RateLimit;
  /** Of wrong and missing keys, per address. */
  guessLimit: GuessLimit;
}

/**
 * Callers known by a personal API key (docs/api-rules.md#personal-api-keys). Nothing is cached: a revoked key, a
 * deactivated user or a lost membership counts from the next request on. Requests that arrive together with one key
 * share a look at it that begins after they came.
 */
export function personalKeyAccess({ sql, logger, requestLimit, guessLimit }: PersonalKeyAccessDeps): Access<Caller> {
  const lookUp = coalesceLookups((secureValue) => findLiveKey(sql, secureValue));
  return {
    queryParameters: ['personal_api_key'],
    async authenticate(request) {
      const given = await findPersonalKey(request);
      const secureValue = given && hashPersonalApiKey(given.value);
      guessLimit.check(request.address, secureValue);
      const key = secureValue === null ? undefined : await lookUp(secureValue);
      if (!key || secureValue === null) {
        await guessLimit.noteWrong(request.address);
        throw given === null ? noKey() : wrongKey(given.source);
      }
      guessLimit.noteGood(secureValue);
      if (key.is_last_use_stale) {
        // Beside the request, which neither waits for it nor fails with it.
        noteKeyUse(sql, key.id).catch((error) => logger.debug('the use of a key could not be noted', { error }));
      }
      return {
        userId: key.user_id,
        keyId: key.id,
        keyExpiresAt: key.expires_at,
        scopes: key.scopes,
        scopedTeams: key.scoped_teams,
        organizationsOfTeams: key.organizations_of_teams,
        scopedOrganizations: key.scoped_organizations,
        memberships: key.memberships,
        currentEnvironmentId: key.current_environment_id,
      };
    },
    authorize(caller, scope) {
      if (grants(caller.scopes, scope)) return;
      throw new AppError('forbidden', `API key missing required scope '${scope}'`);
    },
    async throttle({ keyId }) {
      const wait = await requestLimit.take(keyId);
      if (wait !== null) throw throttled(wait);
    },
    requireLevel(target, level) {
      if (levelOf(target) >= level) return;
      throw new AppError('forbidden', 'Your organization access level is insufficient.');
    },
  };
}

function noKey(): AppError {
  return new AppError('unauthenticated', 'Authentication credentials were not provided.');
}

function wrongKey(source: GivenKey['source']): AppError {
  return new AppError('unauthenticated', `Personal API key found in request ${source} is invalid.`, {
    code: 'authentication_failed',
  });
}

/** What a route's `target` found tells the caller's level there. A route that declares a level and finds none is a bug. */
function levelOf(target: unknown): number {
  const level = (target as { level?: unknown } | null | undefined)?.level;
  if (typeof level !== 'number') throw new Error('A route declares a level, but its target has none.');
  return level;
}
