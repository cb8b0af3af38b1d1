import type { Database, Sql } from '@millrace/db';
import type { Logger, Metrics } from '@millrace/runtime';
import type { FairSlots } from '../tasks/fair-slots.ts';
import { type DeliverDeps, type DeliveryOutcome, deliver } from './deliver.ts';
import { type ClaimedDelivery, claimDeliveries, finishDelivery, postponeDelivery } from './delivery-store.ts';
import { withinMailLimit } from './mail-limit.ts';

/** Longer than any attempt can take. */
const leaseSeconds = 120;
/** Waits before the second, third, … attempt; after the last one it is given up. */
const retryDelaysSeconds = [60, 300, 1800, 7200];

export interface DeliverDueDeps extends DeliverDeps {
  database: Pick<Database, 'sql' | 'transaction'>;
  /** Of one organization; 0 = no limit. */
  mailsPerHour: number;
  logger: Logger;
  counter: ReturnType<typeof createDeliveryMetrics>;
}

/** Begins to send what is to be sent, beside what is under way. @returns whether there may be more. */
export async function deliverDue(deps: DeliverDueDeps, slots: FairSlots): Promise<boolean> {
  if (slots.free() === 0) {
    await slots.released();
    return true;
  }
  const { mailsPerHour } = deps;
  const claimed = await deps.database.transaction(async (tx) => {
    const due = await claimDeliveries(tx, { limit: slots.free(), leaseSeconds, usage: slots.usage() });
    return withinMailLimit(tx, due, mailsPerHour);
  });
  for (const delivery of claimed) slots.start(delivery.organization_id, () => deliverOne(delivery, deps));
  return claimed.length > 0;
}

async function deliverOne(delivery: ClaimedDelivery, deps: DeliverDueDeps): Promise<void> {
  const outcome = await attempt(delivery, deps);
  deps.counter.inc({ target_type: delivery.target_type, result: outcome.result });
  if (outcome.result === 'failed') {
    const { id: deliveryId, subscription_id: subscriptionId, attempts } = delivery;
    deps.logger.warn('a report could not be delivered', {
      deliveryId,
      subscriptionId,
      attempts,
      reason: outcome.error,
    });
  }
  await record(deps.database.sql, delivery, outcome);
}

/** A report that has taken its worker down every time is not tried for ever. */
async function attempt(delivery: ClaimedDelivery, deps: DeliverDueDeps): Promise<DeliveryOutcome> {
  if (delivery.attempts <= retryDelaysSeconds.length + 1) return deliver(delivery, deps);
  return { result: 'failed', isPermanent: true, error: 'No attempt came to an end.' };
}

async function record(sql: Sql, delivery: ClaimedDelivery, outcome: DeliveryOutcome): Promise<void> {
  if (outcome.result !== 'failed') return finishDelivery(sql, delivery, { status: outcome.result, error: null });
  const { error, isPermanent } = outcome;
  const delaySeconds = isPermanent ? undefined : retryDelaysSeconds[delivery.attempts - 1];
  if (delaySeconds === undefined) return finishDelivery(sql, delivery, { status: 'failed', error });
  return postponeDelivery(sql, delivery, { error, delaySeconds });
}

export function createDeliveryMetrics(metrics: Metrics) {
  return metrics.counter('millrace_subscription_deliveries_total', 'Attempts to send a report, by outcome.', [
    'target_type',
    'result',
  ]);
}
