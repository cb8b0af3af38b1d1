// Who makes a request, by the personal API key it carries.

import { hashPersonalApiKey } from '@millrace/accounts';
import { findLiveKey, noteKeyUse } from '@millrace/accounts/access';
import type { Sql } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { AppError, type Logger } from '@millrace/runtime';
import type { Caller } from './caller.ts';
import type { GuessLimit } from './rate-limit.ts';

export interface PersonalKeyAccessDeps {
  sql: Sql;
  logger: Logger;
  /** Of wrong and missing keys, per address. */
  guessLimit: GuessLimit;
}

/**
 * Callers known by a personal API key (docs/api/personal-api-keys.md). Nothing is cached: a revoked key, a
 * deactivated user or a lost membership counts from the next request on. Requests that arrive together with one key
 * share a look at it that begins after they came.
 */
export function personalKeyAccess({ sql, logger, guessLimit }: PersonalKeyAccessDeps) {
  const lookUp = coalesceLookups((secureValue) => findLiveKey(sql, secureValue));
  return {
    /** @throws AppError `unauthenticated`. */
    async authenticate(request: ApiRequest): Promise<Caller> {
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
        noteKeyUse(sql, key.id).catch((error) =>
          logger.debug('could not update last_used_at of a personal API key', { error }),
        );
      }
      return {
        userId: key.user_id,
        credential: { kind: 'key', id: key.id, expiresAt: key.expires_at },
        scopes: key.scopes,
        scopedTeams: key.scoped_teams,
        organizationsOfTeams: key.organizations_of_teams,
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

function wrongKey(source: GivenKey['source']): AppError {
  return new AppError('unauthenticated', `Personal API key found in request ${source} is invalid.`, {
    code: 'authentication_failed',
  });
}

/** A key as the request carried it, and where, for the sentence of a refusal. */
interface GivenKey {
  value: string;
  source: 'Authorization header' | 'body' | 'query string';
}

/**
 * Looks for a personal API key where clients put it, first hit wins: `Authorization: Bearer <key>` (the word in
 * any case, as RFC 9110 has it; extra spaces are tolerated), then the field `personal_api_key` of the query, then of the
 * body (docs/api/personal-api-keys.md; PostHog's own scripts use the header). The body comes last, because
 * it has to be read for it; a large or compressed one is not.
 *
 * @returns null when there is none.
 */
async function findPersonalKey(request: ApiRequest): Promise<GivenKey | null> {
  const header = /^Bearer\s+(\S.*)$/i.exec(request.header('authorization')?.trim() ?? '')?.[1];
  if (header) return { value: header.trim(), source: 'Authorization header' };
  const fromQuery = request.query.get('personal_api_key');
  if (fromQuery) return { value: fromQuery, source: 'query string' };
  const fromBody = await keyInBody(request);
  return fromBody === null ? null : { value: fromBody, source: 'body' };
}

/** A body that cannot be read holds no key; whether it is an error is for the route to say, after 401. */
async function keyInBody(request: ApiRequest): Promise<string | null> {
  const body = await request.smallBody().catch(() => null);
  const key = (body as { personal_api_key?: unknown } | null)?.personal_api_key;
  return typeof key === 'string' && key !== '' ? key : null;
}

/** Beyond this the running question is not waited for: its connection may be one that will never answer. */
const patienceMs = 250;

interface Query<Answer> {
  running: Promise<Answer>;
  beganAt: number;
  next?: Promise<Answer>;
}

/**
 * Lets those who ask the same at the same time share one answer: who comes while a question is on its way waits for the
 * next one, which begins when that has its answer. So no answer is older than the request it is for, which a cache could
 * not promise, and a client with many connections costs hardly more than one with one.
 */
export function coalesceLookups<Answer>(
  ask: (subject: string) => Promise<Answer>,
): (subject: string) => Promise<Answer> {
  const queries = new Map<string, Query<Answer>>();

  function begin(subject: string): Promise<Answer> {
    const query: Query<Answer> = { running: ask(subject), beganAt: performance.now() };
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
