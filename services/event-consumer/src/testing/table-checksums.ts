import type { Sql } from '@millrace/db';

/** Every table that a batch can write to, except the table of offsets. */
const tables = [
  'person',
  'person_distinct_id',
  'group_type_mapping',
  '"group"',
  'event',
  'event_identity',
  'ingestion_warning',
  'environment',
];

/** Returns a checksum of each table. It changes if any row or column changes, including versions and sequence numbers. */
export async function tableChecksums(sql: Sql): Promise<Record<string, string>> {
  const checksums: Record<string, string> = {};
  for (const table of tables) {
    const [row] = await sql.query<{ checksum: string }>(
      `SELECT count(*) || ':' || coalesce(md5(string_agg(t::text, E'\\n' ORDER BY t::text)), '') AS checksum FROM ${table} t`,
    );
    checksums[table] = row?.checksum ?? '';
  }
  return checksums;
}
