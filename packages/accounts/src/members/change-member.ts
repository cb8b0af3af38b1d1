import { isMembershipLevel, type MembershipLevel, membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { Actor } from '../activity/record-activity.ts';
import { notFound } from '../input/account-errors.ts';
import { invalidField, isRowId } from '../input/account-input.ts';
import { lockOrganization } from '../organizations/lock-organization-store.ts';
import { type Acting, refuseLevel, refuseRemoval } from './member-rules.ts';
import { countOwners, deleteMember, findMember, type MemberWithEmail, updateMemberLevel } from './member-store.ts';
import { recordMembership } from './record-membership.ts';
import { withdrawInvites } from './withdraw-invites.ts';

/** Which member is meant, and who does it: a user within their own level, an operator without that limit. */
export interface AddressedMember {
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
    throw invalidField('level', 'invalid_choice', `"${String(level)}" is not a valid choice: 1, 8 or 15.`);
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
  throw new AppError('conflict', 'The last owner has to stay. Make another member an owner first.');
}
