import { recordActivity } from '@millrace/accounts';
import type { Sql } from '@millrace/db';
import type { BatchExportRow, ExportAddress } from './batch-export-store.ts';

/** Fields a person may change; secrets are not among them, a row never has them. */
function visible(row: BatchExportRow) {
  const { name, model, interval, paused, start_at, end_at, destination_type, destination_config } = row;
  const times = { start_at: start_at?.toISOString() ?? null, end_at: end_at?.toISOString() ?? null };
  return {
    name,
    model,
    interval,
    paused,
    ...times,
    destination: { type: destination_type, config: destination_config },
  };
}

/** Records who had a range exported or kept from being exported; `before` and `after` are what was asked for. */
export async function recordExportWork(
  tx: Sql,
  address: ExportAddress,
  { row, ...change }: { row: BatchExportRow; field: 'backfill' | 'run'; action: 'created' | 'deleted'; what: object },
): Promise<void> {
  const { field, action, what } = change;
  const sides = action === 'created' ? { before: null, after: what } : { before: what, after: null };
  await recordActivity(tx, {
    organizationId: address.organizationId,
    environmentId: row.team_id,
    scope: 'BatchExport',
    itemId: row.id,
    activity: 'updated',
    actor: { userId: address.userId },
    name: row.name,
    changes: [{ type: 'BatchExport', action, field, ...sides }],
  });
}

/** Records who made, changed or deleted an export, in the transaction that does it. */
export async function recordExportActivity(
  tx: Sql,
  address: ExportAddress,
  {
    activity,
    before,
    after,
  }: { activity: 'created' | 'updated' | 'deleted'; before?: BatchExportRow; after: BatchExportRow },
): Promise<void> {
  await recordActivity(tx, {
    organizationId: address.organizationId,
    environmentId: after.team_id,
    scope: 'BatchExport',
    itemId: after.id,
    activity,
    actor: { userId: address.userId },
    name: after.name,
    ...(before && { change: { before: visible(before), after: visible(after) } }),
  });
}
