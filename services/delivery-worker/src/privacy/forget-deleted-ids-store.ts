import type { Sql } from '@millrace/db';

/** Deletes in one statement. */
const portion = 100;

/** Forgets which ids some deletions were about that ended long ago. @returns whether there may be more. */
export async function forgetDeletedIds(sql: Sql, days: number): Promise<boolean> {
  const rows = await sql.query(
    `WITH old AS (SELECT id FROM person_deletion
                   WHERE finished_at < now() - make_interval(days => $1::int) LIMIT $2 FOR UPDATE SKIP LOCKED),
          ids AS (DELETE FROM deleted_distinct_id WHERE deletion_id IN (SELECT id FROM old))
     DELETE FROM person_deletion WHERE id IN (SELECT id FROM old) RETURNING id`,
    [days, portion],
  );
  return rows.length > 0;
}
