import { lockOrganization } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { countSubscriptions } from './subscription-store.ts';

/**
 * Writes a subscription that may add to those of an organization. Behind the lock on the organization, so that two at the
 * same moment do not both take the last place; it is the first lock taken.
 *
 * @param most subscriptions of an organization, without the deleted ones; 0 = no limit.
 * @param write tells whether there is one more than before.
 * @throws AppError `invalid` when there are too many now.
 */
export async function withinSubscriptionLimit<T extends { isOneMore: boolean }>(
  tx: Transaction,
  { organizationId, max }: { organizationId: string; max: number },
  write: () => Promise<T>,
): Promise<T> {
  await lockOrganization(tx, organizationId);
  const written = await write();
  if (max > 0 && written.isOneMore && (await countSubscriptions(tx, organizationId)) > max) {
    throw new AppError('invalid', `An organization has at most ${max} subscriptions. Delete one that is not needed.`, {
      code: 'limit_exceeded',
    });
  }
  return written;
}
