import type { Pool } from 'pg';
import type { Row } from '../release-record.ts';

/** Puts them into an empty database of any newer schema: columns made since get their defaults, as a migration leaves them. */
export async function writeTables(database: Pool, tables: Record<string, Row[]>): Promise<void> {
  const client = await database.connect();
  try {
    // Neither the order of foreign keys nor triggers: they ran when the rows were made.
    await client.query('SET session_replication_role = replica');
    for (const [table, rows] of Object.entries(tables)) {
      const columns = Object.keys(rows[0] ?? {}).map((name) => `"${name}"`);
      await client.query(
        `INSERT INTO "${table}" (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::"${table}", $1::jsonb)`,
        [JSON.stringify(rows)],
      );
    }
    await client.query('RESET session_replication_role');
  } finally {
    client.release();
  }
}
