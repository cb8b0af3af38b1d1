import { recordActivity } from '@millrace/accounts';
import type { Sql } from '@millrace/db';
import type { FlagWriter } from '../feature-flags/write-flag.ts';
import type { FeatureRow } from './feature-store.ts';

/** Records who made, changed or deleted a feature, in the transaction that does it. */
export async function recordFeatureActivity(
  tx: Sql,
  { userId, organizationId, environmentId }: FlagWriter,
  { before, after }: { before?: FeatureRow; after?: FeatureRow },
): Promise<void> {
  const row = after ?? before;
  if (row === undefined) return;
  await recordActivity(tx, {
    organizationId,
    environmentId,
    scope: 'EarlyAccessFeature',
    itemId: row.id,
    activity: before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated',
    actor: { userId },
    name: row.name,
    ...(before && after && { change: { before: visible(before), after: visible(after) } }),
  });
}

/** Fields a person may change. */
function visible({ name, description, stage, documentation_url }: FeatureRow) {
  return { name, description, stage, documentation_url };
}
