import type { Sql } from '@millrace/db';

/** The id under which a user's own events come in; null for a user who is gone. */
export async function findDistinctIdOfUser(sql: Sql, userId: number): Promise<string | null> {
  const rows = await sql.query<{ distinct_id: string }>('SELECT distinct_id FROM "user" WHERE id = $1', [userId]);
  return rows[0]?.distinct_id ?? null;
}
