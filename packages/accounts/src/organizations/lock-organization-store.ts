import type { Sql } from '@millrace/db';

export interface LockedOrganization {
  id: string;
  name: string;
  available_product_features: unknown;
}

/**
 * Holds an organization until the transaction ends. Who belongs to it and who is invited changes only behind this lock,
 * which is always the first one taken: two owners who demote each other, or two invites of one person, come one after
 * the other. Readers, and writers of other rows that refer to it, do not wait.
 *
 * @param tx a transaction.
 * @returns undefined when it is gone.
 */
export async function lockOrganization(tx: Sql, id: string): Promise<LockedOrganization | undefined> {
  const rows = await tx.query<LockedOrganization & Record<string, unknown>>(
    'SELECT id, name, available_product_features FROM organization WHERE id = $1::uuid FOR NO KEY UPDATE',
    [id],
  );
  return rows[0];
}
