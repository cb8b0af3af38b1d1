// SQL that reads and writes environments' secret keys. Only the hash and mask of a key are stored.

import type { Sql, Transaction } from '@millrace/db';

export type SecretKeySlot = 'primary' | 'backup';

export interface ProjectSecretKey {
  slot: SecretKeySlot;
  mask_value: string;
  created_at: Date;
}

const shown = 'slot, mask_value, created_at';

/** Returns up to two keys: the primary key, and the backup key if it is still valid. */
export async function selectSecretKeys(sql: Sql, environmentId: number): Promise<ProjectSecretKey[]> {
  return sql.query<ProjectSecretKey>(
    `SELECT ${shown} FROM project_secret_key WHERE project_id = $1 ORDER BY slot = 'backup'`,
    [environmentId],
  );
}

export async function insertPrimarySecretKey(
  tx: Transaction,
  key: { environmentId: number; secureValue: string; maskValue: string; createdById: number | null },
): Promise<void> {
  await tx.query(
    `INSERT INTO project_secret_key (project_id, slot, secure_value, mask_value, created_by_id)
     VALUES ($1, 'primary', $2, $3, $4)`,
    [key.environmentId, key.secureValue, key.maskValue, key.createdById],
  );
}

export async function turnPrimaryKeyIntoBackup(tx: Transaction, environmentId: number): Promise<void> {
  await tx.query(`UPDATE project_secret_key SET slot = 'backup' WHERE project_id = $1 AND slot = 'primary'`, [
    environmentId,
  ]);
}

/** @returns the slots of the deleted keys */
export async function deleteSecretKeys(
  tx: Transaction,
  environmentId: number,
  slots: readonly SecretKeySlot[],
): Promise<SecretKeySlot[]> {
  const rows = await tx.query<{ slot: SecretKeySlot }>(
    'DELETE FROM project_secret_key WHERE project_id = $1 AND slot = ANY ($2::text[]) RETURNING slot',
    [environmentId, [...slots]],
  );
  return rows.map(({ slot }) => slot);
}
