import { createInvites, type NewInvite } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import type { Caller, Membership } from '../../access/caller.ts';
import type { InviteMailing } from './invite-mailing.ts';
import type { InviteBody } from './invite-schema.ts';
import { findInvites } from './invite-store.ts';
import { invitingKeyOf } from './inviting-key.ts';
import { ofElement } from './parse-invites.ts';
import { toInvite } from './to-invite.ts';

export interface InviteMembersInput {
  caller: Caller;
  membership: Membership;
  invites: InviteBody[];
  /** Whether an error has to name the element. */
  isBulk: boolean;
}

/**
 * Makes invites, all or none, and then sends their mails (docs/api-rules.md#invites).
 *
 * @returns the invites as they are after the mails were tried, in the order of the request. When a person is invited
 * twice, only the last invite is there.
 */
export async function inviteMembers(
  { transaction, inviteMailing }: Pick<Database, 'transaction'> & { inviteMailing: InviteMailing },
  { caller, membership, invites, isBulk }: InviteMembersInput,
) {
  const now = new Date();
  const { userId } = caller;
  const { organizationId } = membership;
  const inviter = { organizationId, userId, key: invitingKeyOf(caller) };
  const { organization, mailable } = await transaction(async (tx) => {
    const { organization, created } = await createInvites(tx, inviter, {
      invites: invites.map(toNewInvite),
      now,
      explain: (index, error) => (isBulk ? ofElement(index, error, 'target_email') : error),
    });
    const tokens = new Map(created.map(({ id, token }) => [id, token]));
    const rows = await findInvites(tx, userId, [...tokens.keys()]);
    return { organization, mailable: rows.map((row) => ({ row, token: tokens.get(row.id) ?? '' })) };
  });
  const attempted = await inviteMailing.send(mailable, organization);
  return mailable.map(({ row }) => ({ ...toInvite(row, now), emailing_attempt_made: attempted.has(row.id) }));
}

function toNewInvite(body: InviteBody): NewInvite {
  return {
    targetEmail: body.target_email,
    firstName: body.first_name,
    level: body.level,
    message: body.message,
    privateProjectAccess: body.private_project_access,
    sendEmail: body.send_email,
    combinePendingInvites: body.combine_pending_invites,
  };
}
