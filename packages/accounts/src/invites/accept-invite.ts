import { isMembershipLevel } from '@millrace/contracts';
import type { membership, organization_invite, user } from '@millrace/db';
import { sqlOf } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { AccountClient } from '../input/account-client.ts';
import { notFound } from '../input/account-errors.ts';
import { isUuid } from '../input/account-input.ts';
import { addMember } from '../members/members.ts';
import { lockOrganization } from '../organizations/lock-organization-store.ts';
import { isInviteExpired } from './invite-validity.ts';

export interface AcceptedInvite {
  invite: organization_invite;
  user: user;
  membership: membership;
}

/**
 * Makes somebody a member by an invite, which is used up. Only the invite of this organization: the reference also
 * removes those of others, who have nothing to do with it (docs/api-rules.md#invites).
 *
 * @param client a transaction.
 * @param requireInvited throws for somebody the invite is not meant for. Nothing is locked or written before.
 * @param chooseUser tells who accepts, once the invite is held.
 * @throws AppError `not_found`; `invalid` with code `expired` or `user_already_member`.
 */
export async function acceptInvite(
  client: AccountClient,
  inviteId: string,
  {
    now,
    requireInvited,
    chooseUser,
  }: {
    now: Date;
    requireInvited: (invite: organization_invite) => void | Promise<void>;
    chooseUser: (invite: organization_invite) => Promise<user>;
  },
): Promise<AcceptedInvite> {
  const seen = await findInvite(client, inviteId);
  await requireInvited(seen);
  if (isInviteExpired(seen, now)) {
    throw new AppError('invalid', 'This invite has expired. Please ask your admin for a new one.', { code: 'expired' });
  }
  if (!(await lockOrganization(sqlOf(client), seen.organization_id))) throw notFound('Organization');
  // Behind the lock nobody else uses it up or replaces it.
  const invite = await findInvite(client, inviteId);
  const accepting = await chooseUser(invite);
  const added = await join(client, invite, accepting.id);
  await client.organization_invite.delete({ where: { id: invite.id } });
  if (accepting.current_organization_id === null) {
    await client.user.update({
      where: { id: accepting.id },
      data: { current_organization_id: invite.organization_id },
    });
  }
  return { invite, user: accepting, membership: added };
}

/** @throws AppError `not_found`. */
export async function findInvite(client: AccountClient, inviteId: string): Promise<organization_invite> {
  const found = isUuid(inviteId) ? await client.organization_invite.findUnique({ where: { id: inviteId } }) : null;
  if (!found) throw notFound('Invite');
  return found;
}

async function join(client: AccountClient, invite: organization_invite, userId: number): Promise<membership> {
  const { level } = invite;
  if (!isMembershipLevel(level)) throw new Error('An invite has a level that is none.');
  // Behind the organization's lock nobody becomes a member between the question and the answer.
  const isAlready = await client.membership.count({
    where: { organization_id: invite.organization_id, user_id: userId },
  });
  if (isAlready > 0) {
    throw new AppError('invalid', 'You already are a member of this organization.', { code: 'user_already_member' });
  }
  const added = await addMember(client, { organizationId: invite.organization_id, userId, level });
  await grantAccess(client, invite, added.id);
  return added;
}

/** Gives access to the private environments the invite names, as far as they are still there. */
async function grantAccess(client: AccountClient, invite: organization_invite, membershipId: string): Promise<void> {
  const grants = (invite.private_project_access ?? []) as { id: number; level: number }[];
  const there = await client.environment.findMany({
    where: { id: { in: grants.map(({ id }) => id) }, project: { organization_id: invite.organization_id } },
    select: { id: true },
  });
  const ids = new Set(there.map(({ id }) => id));
  await client.environment_member.createMany({
    data: grants
      .filter(({ id }) => ids.has(id))
      .map(({ id, level }) => ({
        environment_id: id,
        membership_id: membershipId,
        level,
        created_by_id: invite.created_by_id,
      })),
  });
}
