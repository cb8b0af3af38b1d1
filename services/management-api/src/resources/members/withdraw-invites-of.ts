import { withdrawInvites } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import type { Caller } from '../../access/caller.ts';
import { recordAccountActivity } from '../organizations/record-account-activity.ts';

/** Withdraws the invites a member may not stand for any more (see `withdrawInvites`), each with its record. */
export async function withdrawInvitesOf(
  tx: Transaction,
  caller: Caller,
  maker: { organizationId: string; userId: number; level: number | null },
): Promise<void> {
  for (const { id, organization_id: organizationId, target_email: name } of await withdrawInvites(tx, maker)) {
    await recordAccountActivity(tx, {
      organizationId,
      userId: caller.userId,
      activity: 'deleted',
      scope: 'OrganizationInvite',
      itemId: id,
      name,
    });
  }
}
