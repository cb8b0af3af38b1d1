import { type AccountClient, withdrawInvites } from '@millrace/accounts';
import { sqlOf } from '@millrace/db';
import type { RecordActivity } from '../session.ts';

/** Withdraws the invites somebody may not stand for any more (see `withdrawInvites`), each with its record. */
export async function withdrawInvitesOf(
  tx: AccountClient,
  record: RecordActivity,
  maker: { organizationId: string | null; userId: number; level: number | null },
): Promise<void> {
  for (const { id, organization_id: organizationId, target_email: name } of await withdrawInvites(sqlOf(tx), maker)) {
    await record({ organizationId, scope: 'OrganizationInvite', itemId: id, activity: 'deleted', name });
  }
}
