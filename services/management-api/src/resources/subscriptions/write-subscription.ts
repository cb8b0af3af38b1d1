import { targetsOf } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { nextDeliveryDate } from '@millrace/schedule';
import type { Static } from 'typebox';
import { findTimeZone } from '../../time/time-zone-store.ts';
import { addedTargets } from './added-targets.ts';
import { checkSubscription } from './check-subscription.ts';
import { cancelDeliveries, insertDeliveries } from './delivery-store.ts';
import { fieldsOfNew, nextDateOfChanged, ruleOf, withChanges } from './subscription-fields.ts';
import type { newSubscription, subscriptionChanges } from './subscription-schema.ts';
import {
  findSubscription,
  insertSubscription,
  lockSubscription,
  type SubscriptionRow,
  updateSubscription,
} from './subscription-store.ts';

export interface Author {
  userId: number;
  environmentId: number;
}

/**
 * Makes a subscription; everybody it names gets a report at once, with the invite message
 * (docs/api-rules.md#subscriptions). That report does not move the next date.
 *
 * @throws AppError `invalid` naming the field.
 */
export async function createSubscription(
  tx: Transaction,
  author: Author,
  { body, now }: { body: Static<typeof newSubscription>; now: Date },
): Promise<SubscriptionRow> {
  const fields = fieldsOfNew(body);
  checkSubscription(fields);
  const timeZone = await findTimeZone(tx, author.environmentId);
  const id = await insertSubscription(
    tx,
    { environmentId: author.environmentId, createdById: author.userId },
    { fields, nextDeliveryDate: nextDeliveryDate(ruleOf(fields), { now, previous: null, timeZone }) },
  );
  if (!fields.deleted) {
    const inviteMessage = body.invite_message ?? null;
    await insertDeliveries(tx, id, { targets: targetsOf(fields), occasion: 'created', inviteMessage });
  }
  return found(await findSubscription(tx, author.environmentId, id));
}

/**
 * Changes what is sent and leaves the rest. The row is locked, so that changes of different fields at the same moment
 * both stay. Those who are new to the target get a report at once; a deleted subscription sends nothing more.
 *
 * @throws AppError `not_found`, or `invalid` naming the field.
 */
export async function changeSubscription(
  tx: Transaction,
  { environmentId, id }: { environmentId: number; id: number },
  { changes, now }: { changes: Static<typeof subscriptionChanges>; now: Date },
): Promise<{ before: SubscriptionRow; after: SubscriptionRow }> {
  const before = found(await lockSubscription(tx, environmentId, id));
  const fields = withChanges(before, changes);
  checkSubscription(fields);
  const timeZone = await findTimeZone(tx, environmentId);
  await updateSubscription(tx, id, { fields, nextDeliveryDate: nextDateOfChanged(before, fields, { now, timeZone }) });
  if (fields.deleted) await cancelDeliveries(tx, id);
  else {
    const inviteMessage = changes.invite_message ?? null;
    await insertDeliveries(tx, id, {
      targets: addedTargets(before, fields),
      occasion: 'target_changed',
      inviteMessage,
    });
  }
  return { before, after: found(await findSubscription(tx, environmentId, id)) };
}

function found(row: SubscriptionRow | undefined): SubscriptionRow {
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}
