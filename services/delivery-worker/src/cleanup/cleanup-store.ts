import type { Transaction } from '@millrace/db';

/**
 * Tables of ingested data, whose rows belong to an environment by a number and not by a foreign key, in the order in which
 * they are emptied: what refers to something goes first. A test compares the list with the database.
 */
export const ingestedTables = [
  'event',
  'event_identity',
  'cohort_member',
  'feature_flag_hash_key',
  'person_distinct_id',
  'person',
  'group',
  'group_type_mapping',
  'ingestion_warning',
  'deleted_distinct_id',
  'person_deletion',
  'event_definition',
  'property_definition',
] as const;

/** Locks the oldest request to clean up that may be done; one another worker has in hand is left to it. */
export async function lockCleanup(tx: Transaction): Promise<number | undefined> {
  const rows = await tx.query<{ environment_id: number }>(
    `SELECT environment_id FROM environment_cleanup
      WHERE not_before <= now() ORDER BY not_before LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
  return rows[0]?.environment_id;
}

/**
 * Deletes some rows of an environment, about `limit` of them.
 * @returns how many.
 */
export async function deleteSome(
  tx: Transaction,
  table: (typeof ingestedTables)[number],
  { environmentId, limit }: { environmentId: number; limit: number },
): Promise<number> {
  // Places are unique within a partition only: a few more rows may go, all of the same environment.
  const rows = await tx.query<{ count: number }>(
    `WITH gone AS (
       DELETE FROM "${table}"
        WHERE project_id = $1 AND ctid = ANY (ARRAY(SELECT ctid FROM "${table}" WHERE project_id = $1 LIMIT $2))
       RETURNING 1
     ) SELECT count(*)::int AS count FROM gone`,
    [environmentId, limit],
  );
  return rows[0]?.count ?? 0;
}

export async function finishCleanup(tx: Transaction, environmentId: number): Promise<void> {
  await tx.query('DELETE FROM environment_cleanup WHERE environment_id = $1', [environmentId]);
}
