import type { Sql } from '@millrace/db';

/**
 * Holds all keys of a user until the transaction ends, as `createPersonalApiKey` does: what was found out about the powers
 * of a key stays true until the key is changed.
 */
export async function lockKeysOf(tx: Sql, userId: number): Promise<void> {
  await tx.query('SELECT 1 FROM "user" WHERE id = $1 FOR NO KEY UPDATE', [userId]);
}
