import type { Transaction } from '@millrace/db';

/** Locks some exports whose secrets are plain, or encrypted with an older one of the keys at hand. */
export async function lockForSealing(
  tx: Transaction,
  { newestPrefix, keyIds, limit }: { newestPrefix: string; keyIds: readonly string[]; limit: number },
): Promise<{ id: string; secrets: Record<string, unknown> }[]> {
  return tx.query(
    `SELECT id, destination_secrets AS secrets FROM batch_export
      WHERE destination_secrets <> '{}' AND NOT starts_with(coalesce(destination_secrets ->> 'sealed', ''), $1)
        AND (NOT destination_secrets ? 'sealed' OR split_part(destination_secrets ->> 'sealed', ':', 2) = ANY ($2))
      ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`,
    [newestPrefix, keyIds, limit],
  );
}

export async function storeSecrets(tx: Transaction, id: string, secrets: Record<string, unknown>): Promise<void> {
  await tx.query('UPDATE batch_export SET destination_secrets = $2 WHERE id = $1', [id, secrets]);
}
