import type { Sql } from '@millrace/db';

/** Every table a batch may write, except for the offset itself. */
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

/** One text per table that differs whenever any row or column does, versions and sequence numbers included. */
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
