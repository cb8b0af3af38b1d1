import type { Sql } from '@millrace/db';

/** The oldest cohort with a name; null when there is none. */
export async function findCohortIdByName(sql: Sql, environmentId: number, name: string): Promise<number | null> {
  const rows = await sql.query<{ id: number }>(
    `SELECT id FROM cohort WHERE project_id = $1 AND coalesce(name, '') = $2 AND NOT deleted ORDER BY id LIMIT 1`,
    [environmentId, name],
  );
  return rows[0]?.id ?? null;
}
