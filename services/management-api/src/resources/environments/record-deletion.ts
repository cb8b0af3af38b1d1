import { recordActivity } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import type { Caller } from '../../access/caller.ts';

/** Records that a project or an environment was removed. */
export async function recordDeletion(
  tx: Transaction,
  caller: Caller,
  { scope, organizationId, id, name }: { scope: 'Team' | 'Project'; organizationId: string; id: number; name: string },
): Promise<void> {
  await recordActivity(tx, {
    organizationId,
    environmentId: id,
    scope,
    itemId: id,
    activity: 'deleted',
    actor: caller,
    name,
  });
}
