import { isMembershipLevel } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { Actor } from '../activity/record-activity.ts';
import { notFound } from '../input/account-errors.ts';
import { isUuid } from '../input/account-input.ts';
import { findMember, type Membership } from '../members/member-store.ts';
import { addMember } from '../members/members.ts';
import { lockOrganization } from '../organizations/lock-organization-store.ts';
import { setCurrentEnvironment, type User } from '../users/user-store.ts';
import { deleteInvite, grantAccess, type Invite, selectInvite } from './invite-store.ts';
import { isInviteExpired } from './invite-validity.ts';

export interface AcceptedInvite {
  invite: Invite;
  user: User;
  membership: Membership;
}

/**
 * Makes somebody a member by an invite, which is used up. Only the invite of this organization: the reference also
 * removes those of others, who have nothing to do with it (docs/api-rules.md#invites).
 *
 * @param requireInvited throws for somebody the invite is not meant for. Nothing is locked or written before.
 * @param actor who does it; the one who accepts unless told.
 * @param chooseUser tells who accepts, once the invite is held.
 * @throws AppError `not_found`; `invalid` with code `expired` or `user_already_member`.
 */
export async function acceptInvite(
  tx: Transaction,
  inviteId: string,
  {
    now,
    requireInvited,
    chooseUser,
    actor,
  }: {
    now: Date;
    requireInvited?: (invite: Invite) => void;
    chooseUser: (invite: Invite) => Promise<User>;
    actor?: Actor;
  },
): Promise<AcceptedInvite> {
  const seen = await findInvite(tx, inviteId);
  requireInvited?.(seen);
  if (isInviteExpired(seen, now)) {
    throw new AppError('invalid', 'This invite has expired. Please ask your admin for a new one.', { code: 'expired' });
  }
  await lockOrganization(tx, seen.organization_id);
  // Behind the lock nobody else uses it up or replaces it.
  const invite = await findInvite(tx, inviteId);
  const accepting = await chooseUser(invite);
  const added = await join(tx, invite, { userId: accepting.id, actor });
  await deleteInvite(tx, invite.id, invite.organization_id);
  if (accepting.current_organization_id === null) {
    const { current_environment_id: environmentId } = accepting;
    await setCurrentEnvironment(tx, accepting.id, { organizationId: invite.organization_id, environmentId });
  }
  return { invite, user: accepting, membership: added };
}

/** @throws AppError `not_found`. */
export async function findInvite(sql: Sql, inviteId: string): Promise<Invite> {
  const found = isUuid(inviteId) ? await selectInvite(sql, inviteId) : undefined;
  if (!found) throw notFound('Invite');
  return found;
}

async function join(
  tx: Transaction,
  invite: Invite,
  { userId, actor = { userId } }: { userId: number; actor: Actor | undefined },
): Promise<Membership> {
  const { level } = invite;
  if (!isMembershipLevel(level)) throw new Error('An invite has a level that is none.');
  // Behind the organization's lock nobody becomes a member between the question and the answer.
  if (await findMember(tx, { organizationId: invite.organization_id, userId })) {
    throw new AppError('invalid', 'You already are a member of this organization.', { code: 'user_already_member' });
  }
  const added = await addMember(tx, { organizationId: invite.organization_id, userId, level, actor });
  await grantAccess(tx, invite, added.id);
  return added;
}
