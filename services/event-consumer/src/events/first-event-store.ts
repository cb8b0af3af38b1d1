import type { Transaction } from '@millrace/db/sql';

/** Notes that the environments have ingested events. Locks by id: part of the lock order in ledger/ledger-store.ts. */
export async function markEventsIngested(tx: Transaction, projectIds: number[]): Promise<void> {
  if (projectIds.length === 0) return;
  await tx.query(
    `UPDATE environment SET ingested_event = true
       FROM (SELECT id FROM environment
              WHERE id = ANY ($1::int[]) AND NOT ingested_event
              ORDER BY id
                FOR NO KEY UPDATE) AS first
      WHERE environment.id = first.id`,
    [projectIds],
  );
}
