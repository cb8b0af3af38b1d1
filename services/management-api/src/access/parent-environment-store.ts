import type { Sql } from '@millrace/db';

export async function environmentExists(sql: Sql, environmentId: number): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM environment WHERE id = $1', [environmentId]);
  return rows.length > 0;
}
