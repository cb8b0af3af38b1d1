import { isScopeName } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { invalidField, isRowId, isUuid } from '../input/account-input.ts';
import { countEnvironmentsInReach, countMemberships } from './personal-api-key-store.ts';

/**
 * The scopes of a key, each once. An empty list is refused: the reference took it for "everything", which is a trap
 * (docs/api-rules.md#personal-api-keys).
 * @throws AppError `invalid` naming `scopes`.
 */
export function checkScopes(scopes: readonly string[]): string[] {
  if (scopes.length === 0) throw invalidField('scopes', 'required', 'A key needs at least one scope.');
  const unknown = scopes.find((scope) => scope !== '*' && !isScopeName(scope));
  if (unknown !== undefined) throw invalidField('scopes', 'invalid_input', `Invalid scope: ${unknown}`);
  return [...new Set(scopes)];
}

/**
 * A key cannot reach farther than its user, nor, where it is for some organizations, beyond these.
 * @throws AppError `invalid` naming `scoped_teams`.
 */
export async function checkScopedTeams(
  sql: Sql,
  userId: number,
  { environmentIds, organizationIds }: { environmentIds: readonly number[]; organizationIds: readonly string[] },
): Promise<void> {
  if (environmentIds.length === 0) return;
  const ids = [...new Set(environmentIds)];
  const organizations = organizationIds.map((id) => id.toLowerCase());
  const reachable = ids.every(isRowId) ? await countEnvironmentsInReach(sql, userId, { ids, organizations }) : 0;
  if (reachable !== ids.length) {
    throw invalidField(
      'scoped_teams',
      'invalid_input',
      'You must be a member of all teams that you are scoping the key to.',
    );
  }
}

/** As for teams. @throws AppError `invalid` naming `scoped_organizations`. */
export async function checkScopedOrganizations(
  sql: Sql,
  userId: number,
  organizationIds: readonly string[],
): Promise<void> {
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
