/**
 * Stores access rules for environments and for their records: the default rules, and rules for members and roles
 * (docs/api/access.md#access-to-an-environment). `effectiveLevel` evaluates the rules for environments, and the
 * management API evaluates the rules for records.
 */

import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { type Actor, getActorUserId, recordActivity } from '../activity/record-activity.ts';
import { invalidField, isRowId, isUuid, notFound } from '../input.ts';
import { recordEnvironmentChange } from './change-environment.ts';
import { lockEnvironment, type StoredEnvironment, updateEnvironment } from './environment-store.ts';
import { getOrganizationOfProject } from './projects.ts';

/** The levels that a rule for an environment can grant, in ascending order. */
export const accessLevels = ['none', 'member', 'admin'] as const;
export type AccessLevel = (typeof accessLevels)[number];

export const recordAccessLevels = ['none', 'viewer', 'editor', 'manager'] as const;
export type RecordAccessLevel = (typeof recordAccessLevels)[number];

/** A rule's target: a member, a role, or everyone if both are null. */
export interface AccessRuleSubject {
  membershipId: string | null;
  roleId: string | null;
}

export interface RecordRule extends AccessRuleSubject {
  environmentId: number;
  /** The kind of record, for example `dashboard`. */
  resource: string;
  /** The ID of a single record, or null for all records of the kind. */
  resourceId: string | null;
}

/**
 * Sets a rule for access to an environment, or removes it if the level is null. The default rule `none` makes the
 * environment private. Without a default rule, all members have access.
 * @throws AppError `invalid` for a member or role of another organization, or `not_found` if the environment does not
 * exist
 */
export async function changeEnvironmentAccessRule(
  tx: Transaction,
  {
    environmentId,
    level,
    actor,
    ...whom
  }: { environmentId: number; level: AccessLevel | null; actor: Actor } & AccessRuleSubject,
): Promise<void> {
  const { environment } = await lockWhom(tx, environmentId, whom);
  const isForAll = whom.membershipId === null && whom.roleId === null;
  const rule = { environmentId, resource: 'project', resourceId: null, ...whom };
  const change = isForAll
    ? await changeDefault(tx, environment, level)
    : fieldOf(whom, { before: await writeRule(tx, rule, { level, actor }), after: level });
  await recordEnvironmentChange(tx, environment, { actor, change });
}

async function changeDefault(
  tx: Transaction,
  { id, access_control, default_access_level }: StoredEnvironment,
  level: AccessLevel | null,
) {
  const after = await updateEnvironment(tx, id, {
    access_control: level === 'none',
    default_access_level: level === 'none' ? null : level,
  });
  return { before: { access_control, default_access_level }, after };
}

function fieldOf(
  { membershipId, roleId }: AccessRuleSubject,
  { before, after }: { before: string | null; after: string | null },
) {
  const field = `access_of_${membershipId ?? roleId}`;
  return { before: { [field]: before }, after: { [field]: after } };
}

/**
 * Maximum number of record rules per environment, because each access check reads all rules that apply to the caller.
 */
const maxRecordRules = 1000;

/**
 * Sets a rule for access to all records of a kind or to a single record, or removes it if the level is null.
 * @throws AppError `invalid` for a member or role of another organization or for too many rules, or `not_found` if the
 * environment does not exist
 */
export async function changeRecordRule(
  tx: Transaction,
  { level, actor, ...rule }: RecordRule & { level: RecordAccessLevel | null; actor: Actor },
): Promise<void> {
  const { environmentId, resource, resourceId: id, membershipId, roleId } = rule;
  const { environment, organizationId } = await lockWhom(tx, environmentId, rule);
  const before = await writeRule(tx, rule, { level, actor });
  if (before === level) return;
  if (before === null) await requireRoom(tx, environmentId);
  const described = (access_level: string | null) =>
    access_level && { access_level, resource, resource_id: id, organization_member: membershipId, role: roleId };
  const action = before === null ? 'created' : level === null ? 'deleted' : 'changed';
  await recordActivity(tx, {
    organizationId,
    environmentId,
    scope: 'Team',
    itemId: environmentId,
    activity: 'updated',
    actor,
    name: environment.name,
    changes: [{ type: 'Team', action, field: 'access_rule', before: described(before), after: described(level) }],
  });
}

async function requireRoom(tx: Transaction, environmentId: number): Promise<void> {
  const [row] = await tx.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM access_rule WHERE environment_id = $1 AND resource <> 'project'",
    [environmentId],
  );
  if ((row?.count ?? 0) <= maxRecordRules) return;
  throw new AppError(
    'invalid',
    `A project can have at most ${maxRecordRules} access rules for records. To reduce the number of rules, use roles.`,
    {
      code: 'limit_exceeded',
    },
  );
}

/**
 * Locks the environment, and checks that the rule's member or role belongs to the environment's organization.
 * @throws AppError `not_found` or `invalid`
 */
async function lockWhom(tx: Transaction, environmentId: number, { membershipId, roleId }: AccessRuleSubject) {
  const environment = isRowId(environmentId) ? await lockEnvironment(tx, environmentId) : undefined;
  if (!environment) throw notFound('Environment');
  const organizationId = await getOrganizationOfProject(tx, environment.project_id);
  if (membershipId !== null) await requireOf(tx, 'membership', { id: membershipId, organizationId });
  if (roleId !== null) await requireOf(tx, 'role', { id: roleId, organizationId });
  return { environment, organizationId };
}

/**
 * Locks the row of the member or role until the transaction ends, so that the row cannot be deleted while a rule for it
 * is written.
 */
async function requireOf(
  tx: Transaction,
  table: 'membership' | 'role',
  { id, organizationId }: { id: string; organizationId: string },
): Promise<void> {
  const rows = isUuid(id)
    ? await tx.query(`SELECT FROM ${table} WHERE id = $1 AND organization_id = $2 FOR KEY SHARE`, [id, organizationId])
    : [];
  if (rows.length > 0) return;
  const field = table === 'role' ? 'role' : 'organization_member';
  throw invalidField(field, 'does_not_exist', `Invalid pk "${id}" - object does not exist.`);
}

const thatRule = `environment_id = $1 AND resource = $2 AND resource_id IS NOT DISTINCT FROM $3
  AND membership_id IS NOT DISTINCT FROM $4::uuid AND role_id IS NOT DISTINCT FROM $5::uuid`;

/**
 * Writes or removes a rule.
 * @returns the previous level of the rule, or null if it did not exist
 */
async function writeRule(
  tx: Transaction,
  { environmentId, resource, resourceId, membershipId, roleId }: RecordRule,
  { level, actor }: { level: string | null; actor: Actor },
): Promise<string | null> {
  const key = [environmentId, resource, resourceId, membershipId, roleId];
  const [before] = await tx.query<{ level: string }>(`SELECT level FROM access_rule WHERE ${thatRule}`, key);
  if (level === null) {
    await tx.query(`DELETE FROM access_rule WHERE ${thatRule}`, key);
  } else {
    await tx.query(
      `INSERT INTO access_rule (environment_id, resource, resource_id, membership_id, role_id, level, created_by_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (environment_id, resource, resource_id, membership_id, role_id)
       DO UPDATE SET level = excluded.level, updated_at = clock_timestamp()`,
      [...key, level, getActorUserId(actor)],
    );
  }
  return before?.level ?? null;
}
