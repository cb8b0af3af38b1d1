// Manages roles: groups of members that access rules can apply to (docs/api/access.md#roles).

import type { Columns, Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { v7 as uuidv7 } from 'uuid';
import { type Activity, type Actor, getActorUserId, recordActivity } from '../activity/record-activity.ts';
import { checkText, invalidField, isUuid, mapConstraintErrors, notFound } from '../input.ts';
import { lockOrganization } from '../organizations/organization-store.ts';

export interface Role extends Record<string, unknown>, Columns<'role', 'id' | 'organization_id' | 'name'> {}

interface RoleOf {
  organizationId: string;
  actor: Actor;
}

/** Maximum number of roles per organization. It is limited because every request reads the roles of its caller. */
const maxRoles = 200;
const longestName = 200;

/**
 * Creates a role.
 * @throws AppError `invalid` naming `name` if it is blank, too long or already used (ignoring case), or `invalid` for
 * too many roles
 */
export async function createRole(
  tx: Transaction,
  { organizationId, name, actor }: RoleOf & { name: string },
): Promise<Role> {
  await lockOrganization(tx, organizationId);
  const [row] = await tx.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM role WHERE organization_id = $1',
    [organizationId],
  );
  if ((row?.count ?? 0) >= maxRoles) {
    throw new AppError(
      'invalid',
      `An organization can have at most ${maxRoles} roles. Delete one that you no longer need.`,
      { code: 'limit_exceeded' },
    );
  }
  const [role] = await mapConstraintErrors({ role_organization_id_name_key: isTaken }, () =>
    tx.query<Role>(
      `INSERT INTO role (id, organization_id, name, created_by_id) VALUES ($1, $2, $3, $4)
       RETURNING id, organization_id, name`,
      [uuidv7(), organizationId, checkName(name), getActorUserId(actor)],
    ),
  );
  if (!role) throw new Error('A role was inserted without a row.');
  await record(tx, role, { activity: 'created', actor });
  return role;
}

/** @throws AppError like `createRole`, or `not_found` */
export async function renameRole(
  tx: Transaction,
  { roleId, name, ...of }: RoleOf & { roleId: string; name: string },
): Promise<Role> {
  const before = await lockRole(tx, of, roleId);
  const after = { ...before, name: checkName(name) };
  if (after.name === before.name) return before;
  await mapConstraintErrors({ role_organization_id_name_key: isTaken }, () =>
    tx.query('UPDATE role SET name = $2, updated_at = clock_timestamp() WHERE id = $1', [roleId, after.name]),
  );
  const change = { before: { name: before.name }, after: { name: after.name } };
  await record(tx, after, { activity: 'updated', actor: of.actor, change });
  return after;
}

/**
 * Deletes a role and its access rules.
 * @throws AppError `not_found`
 */
export async function removeRole(tx: Transaction, { roleId, ...of }: RoleOf & { roleId: string }): Promise<void> {
  const role = await lockRole(tx, of, roleId);
  await tx.query('DELETE FROM role WHERE id = $1', [roleId]);
  await record(tx, role, { activity: 'deleted', actor: of.actor });
}

/**
 * Gives a role to a member of its organization.
 * @returns the ID of the role membership
 * @throws AppError `not_found` for the role, or `invalid` if the user is not a member or already has the role
 */
export async function assignRole(
  tx: Transaction,
  { roleId, userUuid, ...of }: RoleOf & { roleId: string; userUuid: string },
): Promise<string> {
  const role = await lockRole(tx, of, roleId);
  const [member] = isUuid(userUuid)
    ? await tx.query<{ id: string; email: string }>(
        `SELECT m.id, u.email FROM membership m JOIN "user" u ON u.id = m.user_id
          WHERE m.organization_id = $1 AND u.uuid = $2`,
        [of.organizationId, userUuid],
      )
    : [];
  if (!member) throw invalidField('user_uuid', 'does_not_exist', 'User does not exist.');
  const id = uuidv7();
  const added = await tx.query(
    'INSERT INTO role_membership (id, role_id, membership_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id',
    [id, roleId, member.id],
  );
  if (added.length === 0) throw invalidField('user_uuid', 'unique', 'User is already part of the role.');
  await recordMember(tx, role, { actor: of.actor, before: null, after: member.email });
  return id;
}

/** @throws AppError `not_found` */
export async function unassignRole(
  tx: Transaction,
  { roleId, id, ...of }: RoleOf & { roleId: string; id: string },
): Promise<void> {
  const role = await lockRole(tx, of, roleId);
  const [deleted] = isUuid(id)
    ? await tx.query<{ email: string }>(
        `DELETE FROM role_membership held USING membership m JOIN "user" u ON u.id = m.user_id
          WHERE held.id = $1 AND held.role_id = $2 AND m.id = held.membership_id RETURNING u.email`,
        [id, roleId],
      )
    : [];
  if (!deleted) throw notFound('Role');
  await recordMember(tx, role, { actor: of.actor, before: deleted.email, after: null });
}

/** Locks the organization's members, and returns the role. @throws AppError `not_found`. */
async function lockRole(tx: Transaction, { organizationId }: RoleOf, id: string): Promise<Role> {
  await lockOrganization(tx, organizationId);
  const role = await findRole(tx, organizationId, id);
  if (!role) throw notFound('Role');
  return role;
}

export async function findRole(sql: Sql, organizationId: string, id: string): Promise<Role | undefined> {
  if (!isUuid(id)) return undefined;
  const rows = await sql.query<Role>(
    'SELECT id, organization_id, name FROM role WHERE id = $1 AND organization_id = $2',
    [id, organizationId],
  );
  return rows[0];
}

function checkName(name: string): string {
  return checkText('name', name, { maxLength: longestName });
}

function isTaken(): AppError {
  return invalidField('name', 'unique', 'There is already a role with this name.');
}

async function record(
  sql: Sql,
  { organization_id: organizationId, id: itemId, name }: Role,
  done: Pick<Activity, 'activity' | 'actor' | 'change' | 'changes'>,
): Promise<void> {
  await recordActivity(sql, { organizationId, scope: 'Role', itemId, name, ...done });
}

async function recordMember(
  tx: Transaction,
  role: Role,
  { actor, ...values }: { actor: Actor; before: string | null; after: string | null },
): Promise<void> {
  const action = values.before === null ? 'created' : 'deleted';
  const changes = [{ type: 'Role', action, field: 'members', ...values } as const];
  await record(tx, role, { activity: 'updated', actor, changes });
}
