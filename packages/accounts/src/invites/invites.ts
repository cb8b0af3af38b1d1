import type { Sql, Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { notFound } from '../input/account-errors.ts';
import { isUuid } from '../input/account-input.ts';
import { deleteInvite, type Invite, selectInvites } from './invite-store.ts';

/** Invites of an organization that nobody has accepted, expired ones included, the newest first. */
export async function listInvites(sql: Sql, filter: { organizationId: string }): Promise<Invite[]> {
  return selectInvites(sql, filter.organizationId);
}

/**
 * Withdraws an invite: it can no longer be accepted.
 * @param organizationId the one it must belong to; any unless told.
 * @throws AppError `not_found`.
 */
export async function revokeInvite(
  tx: Transaction,
  { inviteId, organizationId = null, actor }: { inviteId: string; organizationId?: string | null; actor: Actor },
): Promise<Invite> {
  const revoked = isUuid(inviteId) ? await deleteInvite(tx, inviteId, organizationId) : undefined;
  if (!revoked) throw notFound('Invite');
  await recordActivity(tx, {
    organizationId: revoked.organization_id,
    scope: 'OrganizationInvite',
    itemId: revoked.id,
    activity: 'deleted',
    actor,
    name: revoked.target_email,
  });
  return revoked;
}
