import type { Sql } from '@millrace/db';

/** Rows looked at: a count of more says so many. */
const mostRows = 200_000;

/** Events that happened and were stored within the last seconds. Those of an import say nothing about the last minute. */
export async function countStored(sql: Sql, environmentId: number, seconds: number): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count
       FROM (SELECT created_at, historical_migration FROM event
              WHERE project_id = $1 AND timestamp > now() - ($2 + 60) * interval '1 second' LIMIT ${mostRows}) AS late
      WHERE created_at > now() - $2 * interval '1 second' AND NOT historical_migration`,
    [environmentId, seconds],
  );
  return rows[0]?.count ?? 0;
}

/** What was wrong with an environment's events, by kind, the most frequent in front. */
export async function countWarnings(
  sql: Sql,
  environmentId: number,
  seconds: number,
): Promise<{ type: string; severity: string; count: number }[]> {
  return sql.query<{ type: string; severity: string; count: number }>(
    `SELECT type, severity, sum(count)::int AS count FROM ingestion_warning
      WHERE project_id = $1 AND stored_at > now() - $2 * interval '1 second'
      GROUP BY type, severity ORDER BY count DESC, type`,
    [environmentId, seconds],
  );
}

/** How many connections each service has to the database, as far as this user may see them. */
export async function countConnections(sql: Sql): Promise<{ application: string; count: number }[]> {
  return sql.query<{ application: string; count: number }>(
    `SELECT application_name AS application, count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> '' GROUP BY 1`,
  );
}
