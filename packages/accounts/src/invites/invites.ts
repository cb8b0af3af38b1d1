import type { Sql } from '@millrace/db';
import { notFound } from '../input/account-errors.ts';
import { isUuid } from '../input/account-input.ts';
import { deleteInvite, type Invite, selectInvites } from './invite-store.ts';

/** Invites of an organization that nobody has accepted, expired ones included, the newest first. */
export async function listInvites(sql: Sql, filter: { organizationId: string }): Promise<Invite[]> {
  return selectInvites(sql, filter.organizationId);
}

/** Withdraws an invite. @throws AppError `not_found`. */
export async function revokeInvite(sql: Sql, inviteId: string): Promise<Invite> {
  const revoked = isUuid(inviteId) ? await deleteInvite(sql, inviteId) : undefined;
  if (!revoked) throw notFound('Invite');
  return revoked;
}
