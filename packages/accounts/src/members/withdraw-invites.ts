import type { Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { deleteInvitesOf } from './withdraw-invites-store.ts';

/** Withdraws the invites somebody may not stand for any more (see `deleteInvitesOf`), each with its record. */
export async function withdrawInvites(
  tx: Transaction,
  { actor, ...maker }: { organizationId: string | null; userId: number; level: number | null; actor: Actor },
): Promise<void> {
  for (const { id, organization_id: organizationId, target_email: name } of await deleteInvitesOf(tx, maker)) {
    const scope = 'OrganizationInvite';
    await recordActivity(tx, { organizationId, scope, itemId: id, activity: 'deleted', actor, name });
  }
}
