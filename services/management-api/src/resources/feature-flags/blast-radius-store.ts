import type { Sql } from '@millrace/db';
import { upToPageBytes } from '../../sql/up-to-page-bytes.ts';

export interface StoredGroup {
  group_key: string;
  group_properties: Record<string, unknown>;
}

interface GroupsOfType {
  environmentId: number;
  groupType: number;
}

/** Some groups of a type by key, those after `after`. A page may end early; only an empty one is the last. */
export async function readGroupPage(
  sql: Sql,
  { environmentId, groupType }: GroupsOfType,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredGroup[]> {
  return sql.query<StoredGroup & Record<string, unknown>>(
    upToPageBytes(
      `SELECT group_key, group_properties FROM "group"
        WHERE project_id = $1 AND group_type_index = $2 AND ($3::text IS NULL OR group_key > $3)
        ORDER BY group_key LIMIT $4`,
      ['group_properties'],
    ),
    [environmentId, groupType, after, limit],
  );
}

export async function countGroups(sql: Sql, { environmentId, groupType }: GroupsOfType): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM "group" WHERE project_id = $1 AND group_type_index = $2',
    [environmentId, groupType],
  );
  return rows[0]?.count ?? 0;
}
