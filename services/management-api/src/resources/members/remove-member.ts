import { deleteMember, recordActivity, withdrawInvites } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import type { Caller, Membership } from '../../access/caller.ts';
import { lockMemberships, toActing } from './locked-membership.ts';
import { refuseRemoval } from './member-rules.ts';
import type { MemberRow } from './member-store.ts';

/**
 * Takes a member out of the organization. The account, its keys and what it created stay; keys reach nothing of the
 * organization from the next request on, because they reach what their user belongs to. Invites the member made and
 * nobody has accepted are withdrawn.
 *
 * @throws AppError see `refuseRemoval`; `not_found` when one of both has left meanwhile.
 */
export async function removeMember(
  { transaction }: Pick<Database, 'transaction'>,
  caller: Caller,
  addressed: { membership: Membership; member: MemberRow },
): Promise<void> {
  await transaction(async (tx) => {
    const { organization, own, other } = await lockMemberships(tx, caller, addressed);
    refuseRemoval(toActing(own), toActing(other));
    await deleteMember(tx, other.id);
    await recordActivity(tx, {
      organizationId: organization.id,
      scope: 'OrganizationMembership',
      itemId: other.id,
      activity: 'deleted',
      actor: caller,
      name: other.user.email,
    });
    await withdrawInvites(tx, {
      organizationId: organization.id,
      userId: other.user.id,
      level: null,
      actor: caller,
    });
  });
}
