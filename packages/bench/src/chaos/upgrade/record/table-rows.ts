import type { Pool } from 'pg';
import type { Row } from './release-record.ts';

/** Of the log and of migrations, not of what an installation is about. */
const notKept = ['_prisma_migrations', 'schema_migration'];

/** Tables that consumers write, with what puts their rows into an order that does not depend on the run. */
const written: Record<string, string> = {
  event: 'uuid::text COLLATE "C"',
  person: 'main_distinct_id COLLATE "C"',
  person_distinct_id: 'distinct_id COLLATE "C"',
  group_type_mapping: 'group_type_index',
  group: 'group_type_index, group_key COLLATE "C"',
  ingestion_warning: 'type COLLATE "C", details::text COLLATE "C"',
  event_definition: 'name COLLATE "C"',
  property_definition: 'type, group_type_index, name COLLATE "C"',
};

export async function readStored(database: Pool): Promise<Record<string, Row[]>> {
  const tables: Record<string, Row[]> = {};
  for (const [table, order] of Object.entries(written)) tables[table] = await rowsOf(database, table, order);
  return tables;
}

/** Every table that has rows. */
export async function readTables(database: Pool): Promise<Record<string, Row[]>> {
  const { rows: names } = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`,
  );
  const tables: Record<string, Row[]> = {};
  for (const { name } of names) {
    const rows = notKept.includes(name) ? [] : await rowsOf(database, name, '1');
    if (rows.length > 0) tables[name] = rows;
  }
  return tables;
}

async function rowsOf(database: Pool, table: string, order: string): Promise<Row[]> {
  const { rows } = await database.query<{ row: Row }>(`SELECT to_jsonb(t) AS row FROM "${table}" t ORDER BY ${order}`);
  return rows.map(({ row }) => row);
}
