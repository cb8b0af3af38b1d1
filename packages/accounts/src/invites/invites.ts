import type { organization_invite } from '@millrace/db';
import type { AccountClient } from '../input/account-client.ts';
import { isRowMissing, notFound } from '../input/account-errors.ts';
import { isUuid } from '../input/account-input.ts';

/** Invites of an organization that nobody has accepted, expired ones included, the newest first. */
export async function listInvites(
  client: AccountClient,
  filter: { organizationId: string },
): Promise<organization_invite[]> {
  return client.organization_invite.findMany({
    where: { organization_id: filter.organizationId },
    orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
  });
}

/** Withdraws an invite. @throws AppError `not_found`. */
export async function revokeInvite(client: AccountClient, inviteId: string): Promise<organization_invite> {
  if (!isUuid(inviteId)) throw notFound('Invite');
  try {
    return await client.organization_invite.delete({ where: { id: inviteId } });
  } catch (error) {
    throw isRowMissing(error) ? notFound('Invite', error) : error;
  }
}
