import type { Sql } from '@millrace/db';

/** Returns the IANA time zone name of an environment. */
export async function findTimeZone(sql: Sql, environmentId: number): Promise<string> {
  const rows = await sql.query<{ timezone: string }>('SELECT timezone FROM environment WHERE id = $1', [environmentId]);
  return rows[0]?.timezone ?? 'UTC';
}
