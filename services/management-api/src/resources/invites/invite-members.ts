import { lockOrganization, recordActivity } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { Caller, Membership } from '../../access/caller.ts';
import { findMember } from '../members/member-store.ts';
import { type CreatedInvite, createInvite, type NewInvite } from './create-invite.ts';
import type { InviteMailing } from './invite-mailing.ts';
import { findInvites } from './invite-store.ts';
import { invitingKeyOf } from './inviting-key.ts';
import { ofElement } from './parse-invites.ts';
import { toInvite } from './to-invite.ts';

export interface InviteMembersInput {
  caller: Caller;
  membership: Membership;
  invites: NewInvite[];
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
  const { organization, mailable } = await transaction(async (tx) => {
    const organization = await lockOrganization(tx, membership.organizationId);
    // Behind the lock: who was removed or demoted a moment ago promises nothing more.
    const own = await findMember(tx, organization.id, { id: caller.userId });
    if (!own) throw new AppError('not_found', 'Organization not found.');
    const inviter = { userId: caller.userId, level: own.level, key: invitingKeyOf(caller), organization };
    const created: CreatedInvite[] = [];
    for (const [index, invite] of invites.entries()) {
      created.push(
        await createInvite(tx, inviter, { invite, now }).catch((error) => {
          throw isBulk ? ofElement(index, error, 'target_email') : error;
        }),
      );
    }
    // An invite that a later one of the same request replaced is not there any more.
    const rows = await findInvites(
      tx,
      caller.userId,
      created.map(({ id }) => id),
    );
    for (const row of rows) {
      await recordActivity(tx, {
        organizationId: organization.id,
        scope: 'OrganizationInvite',
        itemId: row.id,
        activity: 'created',
        actor: caller,
        name: row.target_email,
      });
    }
    const tokens = new Map(created.map(({ id, token }) => [id, token]));
    return { organization, mailable: rows.map((row) => ({ row, token: tokens.get(row.id) ?? '' })) };
  });
  const attempted = await inviteMailing.send(mailable, organization);
  return mailable.map(({ row }) => ({ ...toInvite(row, now), emailing_attempt_made: attempted.has(row.id) }));
}
