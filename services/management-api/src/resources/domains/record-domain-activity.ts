import type { Transaction } from '@millrace/db';
import type { Caller } from '../../access/caller.ts';
import { type AccountActivity, recordAccountActivity } from '../organizations/record-account-activity.ts';
import type { DomainRow } from './domain-store.ts';

/** Records what was done to a domain. */
export async function recordDomainActivity(
  tx: Transaction,
  caller: Caller,
  { activity, before, after }: Pick<AccountActivity, 'activity'> & { before?: DomainRow; after?: DomainRow },
): Promise<void> {
  const row = after ?? before;
  if (!row) return;
  await recordAccountActivity(tx, {
    organizationId: row.organization_id,
    userId: caller.userId,
    activity,
    scope: 'OrganizationDomain',
    itemId: row.id,
    name: row.domain,
    ...(before && { before }),
    ...(after && { after }),
  });
}
