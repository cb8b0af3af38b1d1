// Checks whether a bearer key may read flag definitions.

import type { IncomingMessage } from 'node:http';
import { canKeyAccessProject, findEnvironment, findLiveKey, hashPersonalApiKey } from '@millrace/accounts/access';
import { includesScope } from '@millrace/contracts';
import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { AppError } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import { createSlots, storeTimeLimits } from '../access/store-limits.ts';
import { findSecretKeyOwner } from './key-store.ts';

/** @throws AppError `unauthenticated` if the header contains no key */
export function requireBearerKey({ headers }: IncomingMessage): string {
  const [, bearer] = /^Bearer\s+(\S.*)$/i.exec(headers.authorization?.trim() ?? '') ?? [];
  if (bearer !== undefined) return bearer.trim();
  throw new AppError(
    'unauthenticated',
    headers.authorization === undefined
      ? 'Authentication credentials were not provided.'
      : 'The Authorization header must be `Bearer <key>`.',
  );
}

/**
 * Rejects a bearer key that may not read an environment's definitions.
 * @throws AppError `unauthenticated` for an unknown key, `forbidden` for a key without access, or `unavailable`
 */
export async function requireDefinitionAccess(
  bearer: string,
  environmentId: number,
  rights: BearerRights,
): Promise<void> {
  const refusal = refusalOf(await rights.find(bearer, environmentId), bearer);
  if (refusal !== null) throw refusal;
}

function refusalOf(rights: Rights, bearer: string): AppError | null {
  switch (rights) {
    case 'allowed':
      return null;
    case 'bad_secret':
      return wrong('Secret API token is invalid.');
    case 'bad_key':
      return wrong(
        bearer.startsWith('phc_')
          ? 'This is a project API key. Local evaluation and remote config require a personal API key with the scope ' +
              '`feature_flag:read`, or the secret API key of the project.'
          : 'Personal API key found in request Authorization header is invalid.',
      );
    case 'no_scope':
      return new AppError('forbidden', "API key missing required scope 'feature_flag:read'");
    case 'no_access':
      return new AppError('forbidden', 'API key does not have access to the requested project.');
  }
}

function wrong(message: string): AppError {
  return new AppError('unauthenticated', message, { code: 'authentication_failed' });
}

type Rights = 'allowed' | 'bad_secret' | 'bad_key' | 'no_scope' | 'no_access';

export interface BearerRights {
  /** @throws AppError `unavailable` if the permissions cannot be looked up */
  find(bearer: string, environmentId: number): Promise<Rights>;
}

interface Remembered {
  rights: Rights;
  environmentId: number;
  lookedUpAtMs: number;
}

const maxRemembered = 10_000;
/**
 * How long a secret key's permissions are cached. PostgreSQL announces revoked secret keys, but an announcement may be
 * lost.
 */
const secretForMs = 60_000;
/**
 * How long a personal key's permissions are cached, in milliseconds. Short, because changes to personal keys are not
 * announced.
 */
const personalForMs = 1000;
/** How long keys keep their last permissions during a database outage, in milliseconds. */
const bridgeForMs = 12 * 60 * 60 * 1000;

/**
 * Finds the permissions of secret project keys and personal keys, by the rules of the management API. Caches them,
 * because SDKs poll with the same key. Lookups of unknown keys share two slots, so that clients that guess keys do not
 * overload PostgreSQL.
 */
export function createBearerRights(
  sql: Sql,
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>,
  { bearerQueueMs } = storeTimeLimits,
): BearerRights {
  const memory = new LRUCache<string, Remembered>({ max: maxRemembered });
  const slots = createSlots({ max: 2, maxWaiting: 100, waitMs: bearerQueueMs });
  let mayHaveChangedBeforeMs = Number.NEGATIVE_INFINITY;
  changes.subscribe((change) => {
    // Changes to flags and secret keys are rare, so look up all permissions again.
    if (change === null || change.isOfFlags) mayHaveChangedBeforeMs = performance.now();
  });

  const isCurrent = ({ lookedUpAtMs }: Remembered, isSecret: boolean) => {
    if (lookedUpAtMs <= mayHaveChangedBeforeMs) return false;
    const usedForMs = isSecret && changes.isSubscribed() ? secretForMs : Math.min(personalForMs, unsubscribedMaxAgeMs);
    return performance.now() - lookedUpAtMs < usedForMs;
  };

  return {
    async find(bearer, environmentId) {
      const secureValue = hashPersonalApiKey(bearer);
      const isSecret = bearer.startsWith('phs_');
      const name = `${secureValue}:${environmentId}`;
      const remembered = memory.get(name);
      if (remembered !== undefined && isCurrent(remembered, isSecret)) return remembered.rights;
      const lookedUpAtMs = performance.now();
      try {
        const rights = await slots.run(() =>
          (isSecret ? secretRights : personalRights)(sql, secureValue, environmentId),
        );
        memory.set(name, { rights, environmentId, lookedUpAtMs });
        return rights;
      } catch (cause) {
        const hadAccess = remembered?.rights === 'allowed' && lookedUpAtMs - remembered.lookedUpAtMs < bridgeForMs;
        if (hadAccess) return 'allowed';
        throw new AppError('unavailable', 'Could not check the API key. Try again in a moment.', { cause });
      }
    },
  };
}

async function secretRights(sql: Sql, secureValue: string, environmentId: number): Promise<Rights> {
  return (await findSecretKeyOwner(sql, secureValue)) === environmentId ? 'allowed' : 'bad_secret';
}

async function personalRights(sql: Sql, secureValue: string, environmentId: number): Promise<Rights> {
  const key = await findLiveKey(sql, secureValue);
  if (key === undefined) return 'bad_key';
  if (!includesScope(key.scopes, 'feature_flag:read')) return 'no_scope';
  const found = await findEnvironment(sql, key.user_id, environmentId);
  if (found === undefined || found.level === null) return 'no_access';
  // A membership is omitted if its organization does not allow personal API keys.
  if (!key.memberships.some(({ organizationId }) => organizationId === found.organizationId)) return 'no_access';
  const reach = { scopedEnvironments: key.scoped_teams, scopedOrganizations: key.scoped_organizations };
  const asFound = { environmentIds: [found.environmentId], organizationId: found.organizationId };
  return canKeyAccessProject(reach, asFound) ? 'allowed' : 'no_access';
}
