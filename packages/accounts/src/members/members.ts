/** The members of an organization: adding them, changing their level, removing them. */

import { isMembershipLevel, type MembershipLevel, membershipLevels } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { v7 as uuidv7 } from 'uuid';
import { type Activity, type Actor, recordActivity } from '../activity/record-activity.ts';
import { answeringConstraints, invalidField, isRowId, isUuid, notFound } from '../input.ts';
import { lockOrganization } from '../organizations/organization-store.ts';
import { type Acting, refuseLevel, refuseRemoval } from './member-rules.ts';
import {
  countOwners,
  deleteInvitesOf,
  deleteMember,
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
  /** 1 member (default), 8 administrator, 15 owner (docs/api/access.md#levels). */
  level?: MembershipLevel;
  /** Who did it; absent where the record of something greater, like a new organization, tells of it. */
  actor?: Actor;
}

/**
 * @throws AppError `invalid` naming `level`; `not_found` for the organization or the user; `conflict` naming `user_id`
 * when the user is a member already.
 */
export async function addMember(sql: Sql, input: NewMember): Promise<Membership> {
  const level = input.level ?? membershipLevels.member;
  if (!isMembershipLevel(level)) {
    throw invalidField('level', 'invalid_choice', `"${String(level)}" is not a valid choice. Choose one of: 1, 8, 15.`);
  }
  if (!isUuid(input.organizationId)) throw notFound('Organization');
  if (!isRowId(input.userId)) throw notFound('User');
  const added = await answeringConstraints(
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

/** Members of an organization with their addresses, the latest first (docs/api/README.md#pages). */
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

/** Which member is meant, and who does it: a user within their own level, an operator without that limit. */
interface AddressedMember {
  organizationId: string;
  userId: number;
  actor: Actor;
}

/**
 * Gives a member another level. Whoever is left with less than before cannot promise more than that: invites that do are
 * withdrawn.
 *
 * @returns the member as it is now.
 * @throws AppError `invalid` naming `level`; `not_found` when the member or the acting user is none; `forbidden`, see
 * `refuseLevel`; `conflict` for the last owner.
 */
export async function setMemberLevel(
  tx: Transaction,
  { level, ...addressed }: AddressedMember & { level: MembershipLevel },
): Promise<MemberWithEmail> {
  if (!isMembershipLevel(level)) {
    throw invalidField('level', 'invalid_choice', `"${String(level)}" is not a valid choice. Choose one of: 1, 8, 15.`);
  }
  const { member, by } = await lockMember(tx, addressed);
  if (by) refuseLevel(by, toActing(member), level);
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
 * Takes a member out of an organization. The account, its keys and what it created stay; keys reach nothing of the
 * organization from the next request on, because they reach what their user belongs to. Invites the member made and
 * nobody has accepted are withdrawn.
 *
 * @throws AppError `not_found` when the member or the acting user is none; see `refuseRemoval`; `conflict` for the last
 * owner.
 */
export async function removeMember(tx: Transaction, addressed: AddressedMember): Promise<MemberWithEmail> {
  const { member, by } = await lockMember(tx, addressed);
  if (by) refuseRemoval(by, toActing(member));
  await keepAnOwner(tx, member);
  await deleteMember(tx, member.id);
  await recordMembership(tx, member, { activity: 'deleted', actor: addressed.actor });
  await withdrawInvites(tx, { ...addressed, level: null });
  return member;
}

/**
 * Who is changed, and the user who does it, as they are while nobody else changes who belongs to the organization: what
 * was decided before the lock may be out of date.
 */
async function lockMember(
  tx: Transaction,
  { organizationId, userId, actor }: AddressedMember,
): Promise<{ member: MemberWithEmail; by: Acting | null }> {
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

function toActing({ user_id: userId, level }: MemberWithEmail): Acting {
  return { userId, level };
}

/** An organization without an owner could be administered by nobody but the operator. */
async function keepAnOwner(tx: Transaction, member: MemberWithEmail): Promise<void> {
  if (member.level !== membershipLevels.owner) return;
  if ((await countOwners(tx, member.organization_id, membershipLevels.owner)) > 1) return;
  throw new AppError('conflict', 'An organization must have at least one owner. Make another member an owner first.');
}

/** Withdraws the invites somebody may not stand for any more (see `deleteInvitesOf`), each with its record. */
export async function withdrawInvites(
  tx: Transaction,
  { actor, ...maker }: { organizationId: string | null; userId: number; level: number | null; actor: Actor },
): Promise<void> {
  for (const { id, organization_id: organizationId, target_email: name } of await deleteInvitesOf(tx, maker)) {
    const scope = 'OrganizationInvite';
    await recordActivity(tx, { organizationId, scope, itemId: id, activity: 'deleted', actor, name });
  }
}

/** Writes down what happened to a membership, under the member's address. */
async function recordMembership(
  sql: Sql,
  { organization_id: organizationId, id: itemId, email: name }: MemberWithEmail,
  done: Pick<Activity, 'activity' | 'actor' | 'change'>,
): Promise<void> {
  await recordActivity(sql, { organizationId, scope: 'OrganizationMembership', itemId, name, ...done });
}
