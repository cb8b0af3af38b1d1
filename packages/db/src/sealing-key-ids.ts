import type { Sql } from './sql-database.ts';

/**
 * Names of the keys with which secrets of exports are encrypted. None when they cannot be read, because the database is
 * away or not migrated yet.
 */
export async function sealingKeyIds(sql: Sql): Promise<string[]> {
  const asked = sql.query<{ id: string }>(
    `SELECT DISTINCT split_part(destination_secrets ->> 'sealed', ':', 2) AS id
       FROM batch_export WHERE destination_secrets ? 'sealed' AND NOT deleted ORDER BY id`,
  );
  const rows = await asked.catch(() => []);
  return rows.map(({ id }) => id);
}
