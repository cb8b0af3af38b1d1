import type { Prisma, personal_api_key } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { AccountClient } from '../input/account-client.ts';
import { answeringConstraints, isRowMissing, notFound } from '../input/account-errors.ts';
import { checkText, invalidField, isRowId } from '../input/account-input.ts';
import { hashPersonalApiKey, maskPersonalApiKey, newPersonalApiKeyValue } from './key-values.ts';
import { checkScopedOrganizations, checkScopedTeams, checkScopes } from './personal-api-key-reach.ts';
import { randomBase62 } from './random-text.ts';

/** How many keys a user may have (docs/api-rules.md#personal-api-keys). */
export const maxPersonalApiKeys = 10;

export interface NewPersonalApiKey {
  userId: number;
  /** 1 to 40 characters. */
  label: string;
  /** At least one; `*` grants everything. */
  scopes: readonly string[];
  /** Environment ids the key is limited to; empty = no limit. */
  scopedTeams?: readonly number[];
  /** Organization ids the key is limited to; empty = no limit. */
  scopedOrganizations?: readonly string[];
  /** Never by default. Must lie after `now`. */
  expiresAt?: Date | null;
  /** The clock; the current time by default. */
  now?: Date;
}

export interface PersonalApiKeyWithValue {
  key: personal_api_key;
  /** The key itself, `phx_…`. Not stored: show it once. */
  value: string;
}

/**
 * Creates a key for a user. Only its hash and mask are stored.
 * @throws AppError `invalid` naming `label`, `scopes`, `scoped_teams`, `scoped_organizations` or `expires_at`, or
 * naming no field when the user has `maxPersonalApiKeys` already; `not_found` for the user.
 */
export async function createPersonalApiKey(
  client: AccountClient,
  input: NewPersonalApiKey,
): Promise<PersonalApiKeyWithValue> {
  const { userId, scopedTeams = [], scopedOrganizations = [], expiresAt = null, now = new Date() } = input;
  const label = checkText('label', input.label, { maxLength: 40 });
  const scopes = checkScopes(input.scopes);
  checkExpiry(expiresAt, now);
  if (!isRowId(userId)) throw notFound('User');
  // In a transaction two requests cannot both make the last key a user may have.
  await client.$queryRaw`SELECT 1 FROM "user" WHERE id = ${userId} FOR NO KEY UPDATE`;
  await checkScopedOrganizations(client, userId, scopedOrganizations);
  await checkScopedTeams(client, userId, { environmentIds: scopedTeams, organizationIds: scopedOrganizations });
  if ((await client.personal_api_key.count({ where: { user_id: userId } })) >= maxPersonalApiKeys) {
    throw new AppError(
      'invalid',
      `You can only have ${maxPersonalApiKeys} personal API keys. Remove an existing key before creating a new one.`,
      { code: 'invalid_input' },
    );
  }
  const value = newPersonalApiKeyValue();
  const key = await answeringConstraints({ personal_api_key_user_id_fkey: (cause) => notFound('User', cause) }, () =>
    client.personal_api_key.create({
      data: {
        id: randomBase62(18),
        user_id: userId,
        label,
        ...storedValue(value),
        scopes,
        scoped_teams: [...scopedTeams],
        scoped_organizations: scopedOrganizations.map((id) => id.toLowerCase()),
        expires_at: expiresAt,
      },
    }),
  );
  return { key, value };
}

/** Keys of one user, or of all, the newest first. */
export async function listPersonalApiKeys(
  client: AccountClient,
  filter: { userId?: number } = {},
): Promise<personal_api_key[]> {
  return client.personal_api_key.findMany({
    where: filter.userId === undefined ? {} : { user_id: filter.userId },
    orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
  });
}

/** @throws AppError `not_found`. */
export async function getPersonalApiKey(
  client: AccountClient,
  choice: PersonalApiKeyChoice,
): Promise<personal_api_key> {
  const found = await client.personal_api_key.findUnique({ where: toWhere(choice) });
  if (!found) throw notFound('Personal API key');
  return found;
}

/** What may change of a key; absent = as it is. */
export type PersonalApiKeyChanges = Partial<Omit<NewPersonalApiKey, 'userId' | 'now'>>;

/**
 * Changes what a key is called and what it reaches, from the next request on.
 * @param client a transaction.
 * @throws AppError `invalid` naming the field, `not_found`.
 */
export async function updatePersonalApiKey(
  client: AccountClient,
  choice: PersonalApiKeyChoice,
  changes: PersonalApiKeyChanges,
): Promise<personal_api_key> {
  const before = await getPersonalApiKey(client, choice);
  const { user_id: userId } = before;
  const data: Prisma.personal_api_keyUpdateInput = {};
  if (changes.label !== undefined) data.label = checkText('label', changes.label, { maxLength: 40 });
  if (changes.scopes !== undefined) data.scopes = checkScopes(changes.scopes);
  if (changes.scopedOrganizations !== undefined) {
    await checkScopedOrganizations(client, userId, changes.scopedOrganizations);
    data.scoped_organizations = changes.scopedOrganizations.map((id) => id.toLowerCase());
  }
  if (changes.scopedTeams !== undefined) {
    const organizationIds = changes.scopedOrganizations ?? before.scoped_organizations;
    await checkScopedTeams(client, userId, { environmentIds: changes.scopedTeams, organizationIds });
    data.scoped_teams = [...changes.scopedTeams];
  }
  if (changes.expiresAt !== undefined) {
    checkExpiry(changes.expiresAt, new Date());
    data.expires_at = changes.expiresAt;
  }
  try {
    return await client.personal_api_key.update({ where: toWhere(choice), data });
  } catch (error) {
    throw isRowMissing(error) ? notFound('Personal API key', error) : error;
  }
}

/** Which key is meant; with `userId`, another user's key is `not_found`. */
export interface PersonalApiKeyChoice {
  id: string;
  userId?: number;
}

/** Removes a key; it stops working with the next request. @throws AppError `not_found`. */
export async function revokePersonalApiKey(
  client: AccountClient,
  choice: PersonalApiKeyChoice,
): Promise<personal_api_key> {
  try {
    return await client.personal_api_key.delete({ where: toWhere(choice) });
  } catch (error) {
    throw isRowMissing(error) ? notFound('Personal API key', error) : error;
  }
}

/** Gives a key a new value; the old one stops working at once. @throws AppError `not_found`. */
export async function rollPersonalApiKey(
  client: AccountClient,
  choice: PersonalApiKeyChoice,
): Promise<PersonalApiKeyWithValue> {
  const value = newPersonalApiKeyValue();
  try {
    const key = await client.personal_api_key.update({
      where: toWhere(choice),
      data: { ...storedValue(value), last_rolled_at: new Date() },
    });
    return { key, value };
  } catch (error) {
    throw isRowMissing(error) ? notFound('Personal API key', error) : error;
  }
}

function storedValue(value: string) {
  return { secure_value: hashPersonalApiKey(value), mask_value: maskPersonalApiKey(value) };
}

function toWhere({ id, userId }: PersonalApiKeyChoice) {
  return userId === undefined ? { id } : { id, user_id: userId };
}

function checkExpiry(expiresAt: Date | null, now: Date): void {
  if (expiresAt === null) return;
  if (Number.isNaN(expiresAt.getTime())) throw invalidField('expires_at', 'invalid_input', 'Not a valid time.');
  if (expiresAt <= now) throw invalidField('expires_at', 'min_value', 'The key would have expired already.');
}
