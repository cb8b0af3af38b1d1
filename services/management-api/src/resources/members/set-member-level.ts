import type { Database } from '@millrace/db';
import type { Caller, Membership } from '../../access/caller.ts';
import { recordAccountActivity } from '../organizations/record-account-activity.ts';
import { lockMemberships, toActing } from './locked-membership.ts';
import { refuseLevel } from './member-rules.ts';
import { findMember, type MemberRow, updateMemberLevel } from './member-store.ts';
import { withdrawInvitesOf } from './withdraw-invites-of.ts';

/**
 * Whoever is left with less than before cannot promise more than that: invites that do are withdrawn.
 * @throws AppError `forbidden`, see `refuseLevel`; `not_found` when one of both has left meanwhile.
 */
export async function setMemberLevel(
  { transaction }: Pick<Database, 'transaction'>,
  caller: Caller,
  { level, ...addressed }: { membership: Membership; member: MemberRow; level: number },
): Promise<MemberRow> {
  return transaction(async (tx) => {
    const { organization, own, other } = await lockMemberships(tx, caller, addressed);
    refuseLevel(toActing(own), toActing(other), level);
    if (level === other.level) return other;
    await updateMemberLevel(tx, other.id, level);
    await recordAccountActivity(tx, {
      organizationId: organization.id,
      userId: caller.userId,
      activity: 'updated',
      scope: 'OrganizationMembership',
      itemId: other.id,
      name: other.user.email,
      before: { level: other.level },
      after: { level },
    });
    if (level < other.level) {
      await withdrawInvitesOf(tx, caller, { organizationId: organization.id, userId: other.user.id, level });
    }
    return (await findMember(tx, organization.id, { id: other.user.id })) ?? other;
  });
}
