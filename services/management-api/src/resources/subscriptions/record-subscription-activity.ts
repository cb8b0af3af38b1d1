import { recordActivity } from '@millrace/accounts';
import type { Sql } from '@millrace/db';
import type { SubscriptionRow } from './subscription-store.ts';

/** Fields a person may change. Targets are people's addresses: that they changed is enough to know. */
function visible(row: SubscriptionRow) {
  const { created_by: _, next_delivery_date: __, created_at: ___, start_date, until_date, ...fields } = row;
  return { ...fields, start_date: start_date.toISOString(), until_date: until_date?.toISOString() ?? null };
}

export interface SubscriptionAddress {
  organizationId: string;
  environmentId: number;
}

/** Records who made, changed or deleted a subscription, in the transaction that does it. */
export async function recordSubscriptionActivity(
  tx: Sql,
  { actor, address }: { actor: { userId: number }; address: SubscriptionAddress },
  { before, after }: { before?: SubscriptionRow; after: SubscriptionRow },
): Promise<void> {
  await recordActivity(tx, {
    organizationId: address.organizationId,
    environmentId: address.environmentId,
    scope: 'Subscription',
    itemId: after.id,
    activity: before === undefined ? 'created' : after.deleted && !before.deleted ? 'deleted' : 'updated',
    actor: { userId: actor.userId },
    name: after.title,
    ...(before && { change: { before: visible(before), after: visible(after), secret: ['target_value'] } }),
  });
}
