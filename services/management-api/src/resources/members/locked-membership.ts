import { type LockedOrganization, lockOrganization } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { Caller, Membership } from '../../access/caller.ts';
import { findMember, type MemberRow } from './member-store.ts';

/**
 * Caller and target as they are while nobody else changes who belongs to the organization: what was decided before the
 * lock may be out of date.
 *
 * @throws AppError `not_found` when either is no member any more.
 */
export async function lockMemberships(
  tx: Transaction,
  caller: Caller,
  { membership, member }: { membership: Membership; member: MemberRow },
): Promise<{ organization: LockedOrganization; own: MemberRow; other: MemberRow }> {
  const { organizationId } = membership;
  const organization = await lockOrganization(tx, organizationId);
  const own = await findMember(tx, organizationId, { id: caller.userId });
  const other = await findMember(tx, organizationId, { id: member.user.id });
  if (!own || !other) throw new AppError('not_found', 'Not found.');
  return { organization, own, other };
}

/** A member as the rules look at one. */
export function toActing({ user, level }: MemberRow): { userId: number; level: number } {
  return { userId: user.id, level };
}
