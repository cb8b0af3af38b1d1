/** Who may use an environment: the rule for everybody, and those for single members. */

import { membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Actor } from '../activity/record-activity.ts';
import { isRowId, isUuid, notFound } from '../input.ts';
import { recordEnvironmentChange } from './change-environment.ts';
import {
  deleteAccessRule,
  findAccessRule,
  isMembershipOf,
  lockEnvironment,
  putAccessRule,
  type StoredEnvironment,
  updateEnvironment,
} from './environment-store.ts';
import { organizationOfProject } from './projects.ts';

export interface AccessRuleChange {
  environmentId: number;
  /** Whom the rule is for; null: everybody. */
  membershipId: string | null;
  /** Null removes the rule. */
  level: AccessLevel | null;
  actor: Actor;
}

/**
 * Sets one rule of who may use an environment (docs/api-rules.md#access-to-an-environment). Without a member it is the
 * rule for everybody: `none` makes the environment private. Null removes a rule; without the one for everybody all have
 * access.
 *
 * @throws AppError `invalid` for a member that is none of the organization, `not_found` when the environment is gone.
 */
export async function changeAccessRule(
  tx: Transaction,
  { environmentId, membershipId, level, actor }: AccessRuleChange,
): Promise<void> {
  const environment = isRowId(environmentId) ? await lockEnvironment(tx, environmentId) : undefined;
  if (!environment) throw notFound('Environment');
  const organizationId = await organizationOfProject(tx, environment.project_id);
  const change =
    membershipId === null
      ? await changeDefault(tx, environment, level)
      : await changeMember(tx, { environmentId, organizationId, membershipId, level, actor });
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

async function changeMember(
  tx: Transaction,
  rule: AccessRuleChange & { organizationId: string; membershipId: string },
) {
  const { environmentId, organizationId, membershipId, level, actor } = rule;
  if (!isUuid(membershipId) || !(await isMembershipOf(tx, membershipId, organizationId))) {
    throw new AppError('invalid', `Invalid pk "${membershipId}" - object does not exist.`, {
      code: 'does_not_exist',
      attr: 'organization_member',
    });
  }
  const before = await findAccessRule(tx, environmentId, membershipId);
  if (level === null) await deleteAccessRule(tx, environmentId, membershipId);
  else await putAccessRule(tx, { environmentId, membershipId, level: toMembershipLevel(level), actor });
  const field = `access_of_${membershipId}`;
  return { before: { [field]: before ? toAccessLevel(before.level) : null }, after: { [field]: level } };
}

/** What a rule of access may say, the least first. */
export const accessLevels = ['none', 'member', 'admin'] as const;
type AccessLevel = (typeof accessLevels)[number];

/** The membership level that stands for an access level; null shuts out. */
function toMembershipLevel(level: AccessLevel): number | null {
  if (level === 'none') return null;
  return level === 'admin' ? membershipLevels.administrator : membershipLevels.member;
}

export function toAccessLevel(level: number | null): AccessLevel {
  if (level === null) return 'none';
  return level >= membershipLevels.administrator ? 'admin' : 'member';
}
