import type { Pool } from 'pg';

const ingestTables = [
  'person',
  'person_distinct_id',
  'group_type_mapping',
  'group',
  'event',
  'event_identity',
  'ingestion_warning',
] as const;

/** Returns a checksum of every table that the consumer writes. It covers all rows, columns and row versions. */
export async function computeTableChecksums(database: Pool): Promise<Record<string, string>> {
  const sums: Record<string, string> = {};
  for (const table of ingestTables) {
    const { rows } = await database.query<{ sum: string }>(
      `SELECT count(*) || ' rows, ' || coalesce(md5(string_agg(line, '|' ORDER BY line)), 'empty') AS sum
         FROM (SELECT t::text AS line FROM "${table}" t) lines`,
    );
    sums[table] = rows[0]?.sum ?? '';
  }
  return sums;
}
