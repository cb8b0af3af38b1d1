import { recordActivity } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { fieldsOf } from './flag-fields.ts';
import type { FlagRow } from './flag-row.ts';
import { payloadsOf, redactedFilters } from './shown-filters.ts';

/** Fields a person may change. Of encrypted payloads it is enough to know that they changed. */
function visible(row: FlagRow) {
  const encrypted = row.has_encrypted_payloads === true ? payloadsOf(row) : null;
  return { ...fieldsOf(row), filters: redactedFilters(row), encrypted_payloads: encrypted };
}

export interface FlagAuthor {
  userId: number;
  organizationId: string;
}

/** Records who made, changed, deleted or restored a flag, in the transaction that does it. */
export async function recordFlagActivity(
  tx: Transaction,
  { userId, organizationId }: FlagAuthor,
  { before, after }: { before?: FlagRow; after: FlagRow },
): Promise<void> {
  await recordActivity(tx, {
    organizationId,
    environmentId: after.environment_id,
    scope: 'FeatureFlag',
    itemId: after.id,
    activity: verbOf(before, after),
    actor: { userId },
    name: after.key,
    ...(before && { change: { before: visible(before), after: visible(after), secret: ['encrypted_payloads'] } }),
  });
}

function verbOf(before: FlagRow | undefined, after: FlagRow): 'created' | 'updated' | 'deleted' | 'restored' {
  if (before === undefined) return 'created';
  if (before.deleted === after.deleted) return 'updated';
  return after.deleted ? 'deleted' : 'restored';
}
