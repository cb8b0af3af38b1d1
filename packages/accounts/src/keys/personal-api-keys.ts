/** Creates, changes and revokes personal API keys, and validates their restrictions. */

import { isScopeName } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { type Activity, type Actor, recordActivity } from '../activity/record-activity.ts';
import { checkText, invalidField, isRowId, isUuid, mapConstraintErrors, notFound } from '../input.ts';
import { hashPersonalApiKey, maskPersonalApiKey, newPersonalApiKeyValue, randomBase62 } from './key-values.ts';
import {
  countAccessibleEnvironments,
  countKeys,
  countMemberships,
  deleteKey,
  findKey,
  insertKey,
  lockUserKeys,
  type PersonalApiKey,
  type PersonalApiKeyChoice,
  selectKeys,
  updateKey,
} from './personal-api-key-store.ts';

/** The maximum number of keys per user (docs/api/personal-api-keys.md). */
export const maxPersonalApiKeys = 10;

export interface NewPersonalApiKey {
  userId: number;
  /** The key's label, with 1 to 40 characters. */
  label: string;
  /** The key's scopes. At least one is required. `*` grants all scopes. */
  scopes: readonly string[];
  /** The IDs of the environments that the key is limited to, or an empty list for no limit. */
  scopedEnvironments?: readonly number[];
  /** The IDs of the organizations that the key is limited to, or an empty list for no limit. */
  scopedOrganizations?: readonly string[];
  /** The expiry time. It must be after `now`. By default, the key does not expire. */
  expiresAt?: Date | null;
  /** The current time. Defaults to the system time. */
  now?: Date;
  actor: Actor;
}

export type KeyChange = PersonalApiKeyChoice & { actor: Actor };

export interface PersonalApiKeyWithValue {
  key: PersonalApiKey;
  /** The key value (`phx_…`). It is not stored, so show it to the user immediately. */
  value: string;
}

/**
 * Creates a key for a user. Stores only the key's hash and mask.
 * @throws AppError `invalid` naming `label`, `scopes`, `scoped_teams`, `scoped_organizations` or `expires_at`,
 * `invalid` without a field if the user already has `maxPersonalApiKeys`, or `not_found` for an unknown user
 */
export async function createPersonalApiKey(sql: Sql, input: NewPersonalApiKey): Promise<PersonalApiKeyWithValue> {
  const {
    userId,
    actor,
    scopedEnvironments = [],
    scopedOrganizations = [],
    expiresAt = null,
    now = new Date(),
  } = input;
  const label = checkText('label', input.label, { maxLength: 40 });
  const scopes = checkScopes(input.scopes);
  checkExpiry(expiresAt, now);
  if (!isRowId(userId)) throw notFound('User');
  // The lock prevents concurrent requests from exceeding the maximum number of keys. It has no effect outside a
  // transaction.
  await lockUserKeys(sql, userId);
  await checkScopedOrganizations(sql, userId, scopedOrganizations);
  await checkScopedEnvironments(sql, userId, {
    environmentIds: scopedEnvironments,
    organizationIds: scopedOrganizations,
  });
  if ((await countKeys(sql, userId)) >= maxPersonalApiKeys) {
    throw new AppError(
      'invalid',
      `You can only have ${maxPersonalApiKeys} personal API keys. Remove an existing key before creating a new one.`,
      { code: 'invalid_input' },
    );
  }
  const value = newPersonalApiKeyValue();
  const key = await mapConstraintErrors({ personal_api_key_user_id_fkey: (cause) => notFound('User', cause) }, () =>
    insertKey(sql, {
      id: randomBase62(18),
      user_id: userId,
      label,
      ...storedValue(value),
      scopes,
      scoped_teams: [...scopedEnvironments],
      scoped_organizations: scopedOrganizations.map((id) => id.toLowerCase()),
      expires_at: expiresAt,
    }),
  );
  await recordKeyActivity(sql, actor, { activity: 'created', after: key });
  return { key, value };
}

/** Lists the keys of one user or of all users, newest first. */
export async function listPersonalApiKeys(sql: Sql, filter: { userId?: number } = {}): Promise<PersonalApiKey[]> {
  return selectKeys(sql, filter.userId ?? null);
}

/** @throws AppError `not_found` */
export async function getPersonalApiKey(sql: Sql, choice: PersonalApiKeyChoice): Promise<PersonalApiKey> {
  return present(await findKey(sql, choice));
}

/** The key fields to change. Undefined fields remain unchanged. */
export type PersonalApiKeyChanges = Partial<Omit<NewPersonalApiKey, 'userId' | 'now' | 'actor'>>;

/**
 * Changes the label and the restrictions of a key. New restrictions apply from the next request.
 * @throws AppError `invalid` naming the field, or `not_found`
 */
export async function updatePersonalApiKey(
  sql: Sql,
  { actor, ...choice }: KeyChange,
  changes: PersonalApiKeyChanges,
): Promise<PersonalApiKey> {
  const before = await getPersonalApiKey(sql, choice);
  const { user_id: userId } = before;
  const data: Parameters<typeof updateKey>[2] = {};
  if (changes.label !== undefined) data.label = checkText('label', changes.label, { maxLength: 40 });
  if (changes.scopes !== undefined) data.scopes = checkScopes(changes.scopes);
  if (changes.scopedOrganizations !== undefined) {
    await checkScopedOrganizations(sql, userId, changes.scopedOrganizations);
    data.scoped_organizations = changes.scopedOrganizations.map((id) => id.toLowerCase());
  }
  if (changes.scopedEnvironments !== undefined) {
    const organizationIds = changes.scopedOrganizations ?? before.scoped_organizations;
    await checkScopedEnvironments(sql, userId, { environmentIds: changes.scopedEnvironments, organizationIds });
    data.scoped_teams = [...changes.scopedEnvironments];
  }
  if (changes.expiresAt !== undefined) {
    checkExpiry(changes.expiresAt, new Date());
    data.expires_at = changes.expiresAt;
  }
  const after = present(await updateKey(sql, choice, data));
  await recordKeyActivity(sql, actor, { activity: 'updated', before, after });
  return after;
}

/** Deletes a key. It becomes invalid immediately. @throws AppError `not_found` */
export async function revokePersonalApiKey(sql: Sql, { actor, ...choice }: KeyChange): Promise<PersonalApiKey> {
  const revoked = present(await deleteKey(sql, choice));
  await recordKeyActivity(sql, actor, { activity: 'deleted', before: revoked });
  return revoked;
}

/** Gives a key a new value. The old value becomes invalid immediately. @throws AppError `not_found`. */
export async function rollPersonalApiKey(sql: Sql, { actor, ...choice }: KeyChange): Promise<PersonalApiKeyWithValue> {
  const value = newPersonalApiKeyValue();
  const key = present(await updateKey(sql, choice, { ...storedValue(value), last_rolled_at: new Date() }));
  await recordKeyActivity(sql, actor, { activity: 'updated', after: key });
  return { key, value };
}

function storedValue(value: string) {
  return { secure_value: hashPersonalApiKey(value), mask_value: maskPersonalApiKey(value) };
}

function present(key: PersonalApiKey | undefined): PersonalApiKey {
  if (!key) throw notFound('Personal API key');
  return key;
}

function checkExpiry(expiresAt: Date | null, now: Date): void {
  if (expiresAt === null) return;
  if (Number.isNaN(expiresAt.getTime()))
    throw invalidField('expires_at', 'invalid_input', 'Enter a valid date and time.');
  if (expiresAt <= now) throw invalidField('expires_at', 'min_value', 'The expiry time must be in the future.');
}

/**
 * Returns the scopes without duplicates. Rejects an empty list, because it would be dangerous: PostHog treats it as all
 * scopes (docs/api/personal-api-keys.md).
 * @throws AppError `invalid` naming `scopes`
 */
function checkScopes(scopes: readonly string[]): string[] {
  if (scopes.length === 0) throw invalidField('scopes', 'required', 'A key needs at least one scope.');
  const unknown = scopes.find((scope) => scope !== '*' && !isScopeName(scope));
  if (unknown !== undefined) throw invalidField('scopes', 'invalid_input', `Invalid scope: ${unknown}`);
  return [...new Set(scopes)];
}

/**
 * Checks that the user can access all environments, and that the environments are in the organizations to which the key
 * is limited.
 * @throws AppError `invalid` naming `scoped_teams`.
 */
async function checkScopedEnvironments(
  sql: Sql,
  userId: number,
  { environmentIds, organizationIds }: { environmentIds: readonly number[]; organizationIds: readonly string[] },
): Promise<void> {
  if (environmentIds.length === 0) return;
  const ids = [...new Set(environmentIds)];
  const organizations = organizationIds.map((id) => id.toLowerCase());
  const reachable = ids.every(isRowId) ? await countAccessibleEnvironments(sql, userId, { ids, organizations }) : 0;
  if (reachable !== ids.length) {
    throw invalidField(
      'scoped_teams',
      'invalid_input',
      'You must be a member of all teams that you are scoping the key to.',
    );
  }
}

/** Checks that the user belongs to all organizations. @throws AppError `invalid` naming `scoped_organizations`. */
async function checkScopedOrganizations(sql: Sql, userId: number, organizationIds: readonly string[]): Promise<void> {
  if (organizationIds.length === 0) return;
  if (!organizationIds.every(isUuid)) {
    throw invalidField('scoped_organizations', 'invalid_input', 'Invalid organization UUID');
  }
  const ids = [...new Set(organizationIds.map((id) => id.toLowerCase()))];
  const reachable = await countMemberships(sql, userId, ids);
  if (reachable !== ids.length) {
    throw invalidField(
      'scoped_organizations',
      'invalid_input',
      'You must be a member of all organizations that you are scoping the key to.',
    );
  }
}

/** Records a change to a key. The entry contains the key's label and restrictions, but never its value. */
async function recordKeyActivity(
  tx: Sql,
  actor: Actor,
  { activity, before, after }: Pick<Activity, 'activity'> & { before?: PersonalApiKey; after?: PersonalApiKey },
): Promise<void> {
  const key = after ?? before;
  if (!key) return;
  await recordActivity(tx, {
    organizationId: null,
    scope: 'PersonalAPIKey',
    itemId: key.id,
    activity,
    actor,
    name: key.label,
    ...(before && after && { change: { before: reach(before), after: reach(after) } }),
  });
}

function reach({ label, scopes, scoped_teams, scoped_organizations, expires_at, last_rolled_at }: PersonalApiKey) {
  return { label, scopes, scoped_teams, scoped_organizations, expires_at, last_rolled_at };
}
