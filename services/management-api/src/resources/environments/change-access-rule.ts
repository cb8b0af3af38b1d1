import {
  deleteAccessRule,
  findAccessRule,
  lockEnvironment,
  putAccessRule,
  recordActivity,
  type StoredEnvironment,
  updateEnvironment,
} from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { type AccessLevel, toAccessLevel, toMembershipLevel } from './access-level.ts';
import { isMembershipOf } from './access-rule-store.ts';

/**
 * Sets one rule of who may use an environment (docs/api-rules.md#access-to-an-environment). Without a member it is the
 * rule for everybody: `none` makes the environment private. Null removes a rule; without the one for everybody all have
 * access.
 *
 * @throws AppError `invalid` for a member that is none of the organization, `not_found` when the environment is gone.
 */
export async function changeAccessRule(
  tx: Transaction,
  caller: Caller,
  { target, level, membershipId }: { target: AddressedProject; level: AccessLevel | null; membershipId: string | null },
): Promise<string> {
  const { environmentId, organizationId } = target;
  const environment = await lockEnvironment(tx, environmentId);
  if (!environment) throw new AppError('not_found', 'Not found.');
  const change =
    membershipId === null
      ? await changeDefault(tx, environment, level)
      : await changeMember(tx, caller, { environmentId, organizationId, membershipId, level });
  await recordActivity(tx, {
    organizationId,
    environmentId,
    scope: 'Team',
    itemId: environmentId,
    activity: 'updated',
    actor: caller,
    name: environment.name,
    change,
  });
  return environment.api_token;
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
  caller: Caller,
  rule: { environmentId: number; organizationId: string; membershipId: string; level: AccessLevel | null },
) {
  const { environmentId, organizationId, membershipId, level } = rule;
  if (!(await isMembershipOf(tx, membershipId, organizationId))) {
    throw new AppError('invalid', `Invalid pk "${membershipId}" - object does not exist.`, {
      code: 'does_not_exist',
      attr: 'organization_member',
    });
  }
  const before = await findAccessRule(tx, environmentId, membershipId);
  if (level === null) await deleteAccessRule(tx, environmentId, membershipId);
  else await putAccessRule(tx, { environmentId, membershipId, level: toMembershipLevel(level) }, caller.userId);
  const field = `access_of_${membershipId}`;
  return { before: { [field]: before ? toAccessLevel(before.level) : null }, after: { [field]: level } };
}
