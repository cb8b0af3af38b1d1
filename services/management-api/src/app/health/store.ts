// SQL for a project's health overview: stored events, warnings and database connections.

import { type Sql, type UserSqlSafeguards, userSqlSafeguardsQuery } from '@millrace/db';

/** Maximum number of rows to count. Higher counts are reported as this number. */
const maxRows = 200_000;

/** Counts events that both happened and were stored in the last `seconds` seconds. Excludes imported events. */
export async function countStoredEvents(sql: Sql, environmentId: number, seconds: number): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count
       FROM (SELECT created_at, historical_migration FROM event
              WHERE project_id = $1 AND timestamp > now() - ($2 + 60) * interval '1 second' LIMIT ${maxRows}) AS late
      WHERE created_at > now() - $2 * interval '1 second' AND NOT historical_migration`,
    [environmentId, seconds],
  );
  return rows[0]?.count ?? 0;
}

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

/** Counts each service's database connections. Omits connections that the database user is not allowed to see. */
export async function countConnections(sql: Sql): Promise<{ application: string; count: number }[]> {
  return sql.query<{ application: string; count: number }>(
    `SELECT application_name AS application, count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> '' GROUP BY 1`,
  );
}

/**
 * Returns true if SQL queries run with the restricted database role, which can read only the tables that SQL queries
 * may use.
 */
export async function hasSqlRole(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<UserSqlSafeguards & Record<string, unknown>>(userSqlSafeguardsQuery);
  return row?.hasRole === true;
}
