// Authenticates requests that contain a personal API key.

import { hashPersonalApiKey } from '@millrace/accounts';
import { findLiveKey, recordKeyUse } from '@millrace/accounts/access';
import type { Sql } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { AppError, type Logger } from '@millrace/runtime';
import type { Caller } from './caller.ts';
import type { GuessLimit } from './rate-limit.ts';

export interface PersonalKeyAccessDeps {
  sql: Sql;
  logger: Logger;
  guessLimit: GuessLimit;
}

/**
 * Authenticates callers by a personal API key (docs/api/personal-api-keys.md). Nothing is cached, so revoking a key,
 * deactivating a user or removing a membership takes effect with the next request. Concurrent requests with the same
 * key share one lookup, which begins after they arrive.
 */
export function createPersonalKeyAccess({ sql, logger, guessLimit }: PersonalKeyAccessDeps) {
  const lookUp = coalesceLookups((secureValue) => findLiveKey(sql, secureValue));
  return {
    async authenticate(request: ApiRequest): Promise<Caller> {
      const requestKey = await findPersonalKey(request);
      const secureValue = requestKey && hashPersonalApiKey(requestKey.value);
      guessLimit.check(request.address, secureValue);
      const key = secureValue === null ? undefined : await lookUp(secureValue);
      if (!key || secureValue === null) {
        await guessLimit.recordFailure(request.address);
        throw requestKey === null ? noKey() : wrongKey(requestKey.source);
      }
      guessLimit.recordSuccess(secureValue);
      if (key.is_last_use_stale) {
        // Record the key's use in the background, so that the request does not wait for the write and succeeds even if
        // the write fails.
        recordKeyUse(sql, key.id).catch((error) =>
          logger.debug('could not update last_used_at of a personal API key', { error }),
        );
      }
      return {
        userId: key.user_id,
        credential: { kind: 'key', id: key.id, expiresAt: key.expires_at },
        scopes: key.scopes,
        scopedEnvironments: key.scoped_teams,
        organizationsOfEnvironments: key.organizations_of_environments,
        scopedOrganizations: key.scoped_organizations,
        memberships: key.memberships,
        currentEnvironmentId: key.current_environment_id,
      };
    },
  };
}

function noKey(): AppError {
  return new AppError('unauthenticated', 'Authentication credentials were not provided.');
}

function wrongKey(source: RequestKey['source']): AppError {
  return new AppError('unauthenticated', `Personal API key found in request ${source} is invalid.`, {
    code: 'authentication_failed',
  });
}

/** A personal API key, and the place in the request where it was found. Error messages name the place. */
interface RequestKey {
  value: string;
  source: 'Authorization header' | 'body' | 'query string';
}

/**
 * Finds the personal API key of a request. Returns the first key found in this order: `Authorization: Bearer <key>`
 * (the scheme in any case, as in RFC 9110, and with extra spaces), the query parameter `personal_api_key`, and the body
 * field of the same name (docs/api/personal-api-keys.md). PostHog's own scripts use the header. The body comes last,
 * because it must first be read. Large or compressed bodies are not searched.
 * @returns null if the request contains no key
 */
async function findPersonalKey(request: ApiRequest): Promise<RequestKey | null> {
  const header = /^Bearer\s+(\S.*)$/i.exec(request.header('authorization')?.trim() ?? '')?.[1];
  if (header) return { value: header.trim(), source: 'Authorization header' };
  const fromQuery = request.query.get('personal_api_key');
  if (fromQuery) return { value: fromQuery, source: 'query string' };
  const fromBody = await keyInBody(request);
  return fromBody === null ? null : { value: fromBody, source: 'body' };
}

/**
 * Returns the key in the body, or null if the body cannot be parsed. After authentication, the route reports the
 * invalid body.
 */
async function keyInBody(request: ApiRequest): Promise<string | null> {
  const body = await request.smallBody().catch(() => null);
  const key = (body as { personal_api_key?: unknown } | null)?.personal_api_key;
  return typeof key === 'string' && key !== '' ? key : null;
}

/**
 * Milliseconds after which new calls no longer wait for the running lookup, because its database connection may hang.
 */
const patienceMs = 250;

interface Query<Result> {
  running: Promise<Result>;
  beganAt: number;
  next?: Promise<Result>;
}

/**
 * Coalesces concurrent lookups of the same subject. Calls during a lookup share the next lookup, which begins when the
 * current one ends. Unlike a cached result, the result is therefore never older than the request that uses it. A client
 * with many connections causes hardly more lookups than a client with one.
 */
export function coalesceLookups<Result>(
  ask: (subject: string) => Promise<Result>,
): (subject: string) => Promise<Result> {
  const queries = new Map<string, Query<Result>>();

  function begin(subject: string): Promise<Result> {
    const query: Query<Result> = { running: ask(subject), beganAt: performance.now() };
    queries.set(subject, query);
    const end = () => {
      if (query.next === undefined && queries.get(subject) === query) queries.delete(subject);
    };
    query.running.then(end, end);
    return query.running;
  }

  return (subject) => {
    const query = queries.get(subject);
    if (query === undefined) return begin(subject);
    if (query.next === undefined && performance.now() - query.beganAt > patienceMs) return begin(subject);
    query.next ??= query.running.then(
      () => begin(subject),
      () => begin(subject),
    );
    return query.next;
  };
}
