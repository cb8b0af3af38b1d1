import type { Sql } from '@millrace/db';

/** Returns an environment's IANA time zone name. */
export async function findTimeZone(sql: Sql, environmentId: number): Promise<string> {
  const rows = await sql.query<{ timezone: string }>('SELECT timezone FROM environment WHERE id = $1', [environmentId]);
  return rows[0]?.timezone ?? 'UTC';
}
