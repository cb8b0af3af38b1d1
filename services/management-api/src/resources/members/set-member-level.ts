import { recordActivity, updateMemberLevel, withdrawInvites } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import type { Caller, Membership } from '../../access/caller.ts';
import { lockMemberships, toActing } from './locked-membership.ts';
import { refuseLevel } from './member-rules.ts';
import { findMember, type MemberRow } from './member-store.ts';

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
    await recordActivity(tx, {
      organizationId: organization.id,
      scope: 'OrganizationMembership',
      itemId: other.id,
      activity: 'updated',
      actor: caller,
      name: other.user.email,
      change: { before: { level: other.level }, after: { level } },
    });
    if (level < other.level) {
      await withdrawInvites(tx, { organizationId: organization.id, userId: other.user.id, level, actor: caller });
    }
    return (await findMember(tx, organization.id, { id: other.user.id })) ?? other;
  });
}
