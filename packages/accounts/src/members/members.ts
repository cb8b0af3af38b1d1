/** Adds and removes an organization's members, and changes their levels. */

import { isMembershipLevel, type MembershipLevel, membershipLevels } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { v7 as uuidv7 } from 'uuid';
import { type Activity, type Actor, recordActivity } from '../activity/record-activity.ts';
import { invalidField, isRowId, isUuid, mapConstraintErrors, notFound } from '../input.ts';
import { lockOrganization } from '../organizations/organization-store.ts';
import { type RankedMember, requireMayGrantLevel, requireMayRemoveMember } from './member-rules.ts';
import {
  countOwners,
  deleteMember,
  deleteMemberInvites,
  findMember,
  insertMembership,
  type Membership,
  type MemberWithEmail,
  selectMemberships,
  updateMemberLevel,
} from './member-store.ts';

export interface NewMember {
  organizationId: string;
  userId: number;
  /** Membership level: 1 (member, the default), 8 (administrator) or 15 (owner). See docs/api/access.md#levels. */
  level?: MembershipLevel;
  /**
   * The actor in the activity record. Omit it if another record covers the change: for example, a new organization has
   * its own record.
   */
  actor?: Actor;
}

/**
 * Adds a member.
 * @throws AppError `invalid` naming `level`, `not_found` for the organization or the user, or `conflict` naming
 * `user_id` if the user is already a member
 */
export async function addMember(sql: Sql, input: NewMember): Promise<Membership> {
  const level = input.level ?? membershipLevels.member;
  if (!isMembershipLevel(level)) {
    throw invalidField('level', 'invalid_choice', `"${String(level)}" is not a valid choice. Choose one of: 1, 8, 15.`);
  }
  if (!isUuid(input.organizationId)) throw notFound('Organization');
  if (!isRowId(input.userId)) throw notFound('User');
  const added = await mapConstraintErrors(
    {
      membership_organization_id_fkey: (cause) => notFound('Organization', cause),
      membership_user_id_fkey: (cause) => notFound('User', cause),
      membership_organization_id_user_id_key: isMemberAlready,
    },
    () => insertMembership(sql, { id: uuidv7(), organizationId: input.organizationId, userId: input.userId, level }),
  );
  if (input.actor === undefined) return added;
  const member = await findMember(sql, input);
  if (member) await recordMembership(sql, member, { activity: 'created', actor: input.actor });
  return added;
}

/** Lists an organization's members with their email addresses, latest first (docs/api/README.md#pages). */
export async function listMembers(sql: Sql, filter: { organizationId: string }): Promise<MemberWithEmail[]> {
  return selectMemberships(sql, filter.organizationId);
}

function isMemberAlready(cause: unknown): AppError {
  return new AppError('conflict', 'The user is already a member of this organization.', {
    code: 'unique',
    attr: 'user_id',
    cause,
  });
}

/**
 * A member, and the actor who changes the membership. Users are limited by their own level. Operators are not limited.
 */
interface AddressedMember {
  organizationId: string;
  userId: number;
  actor: Actor;
}

/**
 * Changes a member's level. After a demotion, revokes the member's invites that grant more than the new level.
 * @returns the member after the change
 * @throws AppError `invalid` naming `level`, `not_found` if the target or the acting user is not a member, `forbidden`
 * (see `requireMayGrantLevel`), or `conflict` for the last owner
 */
export async function setMemberLevel(
  tx: Transaction,
  { level, ...addressed }: AddressedMember & { level: MembershipLevel },
): Promise<MemberWithEmail> {
  if (!isMembershipLevel(level)) {
    throw invalidField('level', 'invalid_choice', `"${String(level)}" is not a valid choice. Choose one of: 1, 8, 15.`);
  }
  const { member, by } = await lockMember(tx, addressed);
  if (by) requireMayGrantLevel(by, toActing(member), level);
  if (level === member.level) return member;
  await keepAnOwner(tx, member);
  await updateMemberLevel(tx, member.id, level);
  const { actor } = addressed;
  const change = { before: { level: member.level }, after: { level } };
  await recordMembership(tx, member, { activity: 'updated', actor, change });
  if (level < member.level) await withdrawInvites(tx, { ...addressed, level });
  return { ...member, level };
}

/**
 * Removes a member from an organization, and revokes the member's pending invites. The account, its keys and all
 * records that the user created remain. The keys lose access to the organization with the next request, because access
 * depends on memberships.
 * @throws AppError `not_found` if the target or the acting user is not a member, see `requireMayRemoveMember`, or
 *   `conflict` for the last owner
 */
export async function removeMember(tx: Transaction, addressed: AddressedMember): Promise<MemberWithEmail> {
  const { member, by } = await lockMember(tx, addressed);
  if (by) requireMayRemoveMember(by, toActing(member));
  await keepAnOwner(tx, member);
  await deleteMember(tx, member.id);
  await recordMembership(tx, member, { activity: 'deleted', actor: addressed.actor });
  await withdrawInvites(tx, { ...addressed, level: null });
  return member;
}

/**
 * Locks the organization, and reads the target and the acting user again, because both may have changed since the
 * caller read them.
 */
async function lockMember(
  tx: Transaction,
  { organizationId, userId, actor }: AddressedMember,
): Promise<{ member: MemberWithEmail; by: RankedMember | null }> {
  await lockOrganization(tx, organizationId);
  const present = async (id: number) => {
    const found = isRowId(id) ? await findMember(tx, { organizationId, userId: id }) : undefined;
    if (!found) throw notFound('Member');
    return found;
  };
  const member = await present(userId);
  const by = actor !== null && 'userId' in actor ? toActing(await present(actor.userId)) : null;
  return { member, by };
}

function toActing({ user_id: userId, level }: MemberWithEmail): RankedMember {
  return { userId, level };
}

/** Prevents the removal of the last owner, because only the operator could then administer the organization. */
async function keepAnOwner(tx: Transaction, member: MemberWithEmail): Promise<void> {
  if (member.level !== membershipLevels.owner) return;
  if ((await countOwners(tx, member.organization_id, membershipLevels.owner)) > 1) return;
  throw new AppError('conflict', 'An organization must have at least one owner. Make another member an owner first.');
}

export async function withdrawInvites(
  tx: Transaction,
  { actor, ...maker }: { organizationId: string | null; userId: number; level: number | null; actor: Actor },
): Promise<void> {
  for (const { id, organization_id: organizationId, target_email: name } of await deleteMemberInvites(tx, maker)) {
    const scope = 'OrganizationInvite';
    await recordActivity(tx, { organizationId, scope, itemId: id, activity: 'deleted', actor, name });
  }
}

async function recordMembership(
  sql: Sql,
  { organization_id: organizationId, id: itemId, email: name }: MemberWithEmail,
  done: Pick<Activity, 'activity' | 'actor' | 'change'>,
): Promise<void> {
  await recordActivity(sql, { organizationId, scope: 'OrganizationMembership', itemId, name, ...done });
}
