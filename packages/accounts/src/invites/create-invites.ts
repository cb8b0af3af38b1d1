import type { Transaction } from '@millrace/db';
import { recordActivity } from '../activity/record-activity.ts';
import { notFound } from '../input/account-errors.ts';
import { findMember } from '../members/member-store.ts';
import { type LockedOrganization, lockOrganization } from '../organizations/lock-organization-store.ts';
import { type CreatedInvite, createInvite, type Inviter, type NewInvite } from './create-invite.ts';

/**
 * Makes invites, all or none (docs/api-rules.md#invites).
 *
 * @param invites.explain makes the error of one name its place among the others.
 * @returns what was made, in the order given. When a person is invited twice, only the last invite is there.
 * @throws AppError see `createInvite`; `not_found` when the inviter is no member.
 */
export async function createInvites(
  tx: Transaction,
  inviter: Omit<Inviter, 'level'>,
  { invites, now, explain }: { invites: NewInvite[]; now: Date; explain: (index: number, error: unknown) => unknown },
): Promise<{ organization: LockedOrganization; created: CreatedInvite[] }> {
  const { organizationId, userId } = inviter;
  const organization = await lockOrganization(tx, organizationId);
  // Behind the lock: who was removed or demoted a moment ago promises nothing more.
  const own = await findMember(tx, inviter);
  if (!own) throw notFound('Organization');
  const madeFor = new Map<string, CreatedInvite>();
  for (const [index, invite] of invites.entries()) {
    const made = await createInvite(tx, { ...inviter, level: own.level }, { invite, now }).catch((error) => {
      throw explain(index, error);
    });
    // An invite that a later one of the same request replaced is not there any more.
    madeFor.delete(made.emailKey);
    madeFor.set(made.emailKey, made);
  }
  const created = [...madeFor.values()];
  for (const { id, targetEmail } of created) {
    await recordActivity(tx, {
      ...{ organizationId, scope: 'OrganizationInvite', itemId: id },
      ...{ activity: 'created', actor: { userId }, name: targetEmail },
    });
  }
  return { organization, created };
}
