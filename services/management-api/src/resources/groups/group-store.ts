import type { Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';

export interface GroupRow {
  group_type: string | null;
  group_type_index: number;
  group_key: string;
  group_properties: Record<string, unknown>;
  created_at: Date;
}

/** Groups of a project by type and key, from behind `after` on. */
export async function listGroups(
  sql: Sql,
  projectId: number,
  filter: { group_type_index?: number; search?: string },
  { after, limit }: { after: { index: number; key: string } | null; limit: number },
): Promise<GroupRow[]> {
  const where = createConditions();
  where.add(`g.project_id = ${where.parameter(projectId)}`);
  if (after !== null) {
    where.add(`(g.group_type_index, g.group_key) > (${where.parameter(after.index)}, ${where.parameter(after.key)})`);
  }
  if (filter.group_type_index !== undefined) {
    where.add(`g.group_type_index = ${where.parameter(filter.group_type_index)}`);
  }
  if (filter.search !== undefined && filter.search !== '') {
    const wanted = `lower(${where.parameter(filter.search)}::text)`;
    where.add(`(strpos(lower(g.group_key), ${wanted}) > 0
             OR strpos(lower(g.group_properties->>'name'), ${wanted}) > 0)`);
  }
  return sql.query<GroupRow & Record<string, unknown>>(
    `SELECT t.group_type, g.group_type_index, g.group_key, g.group_properties, g.created_at
       FROM "group" g
       LEFT JOIN group_type_mapping t ON t.project_id = g.project_id AND t.group_type_index = g.group_type_index
      WHERE ${where.text()}
      ORDER BY g.group_type_index, g.group_key
      LIMIT ${where.parameter(limit)}`,
    where.values,
  );
}

export async function readGroup(
  sql: Sql,
  projectId: number,
  { group_type_index, group_key }: { group_type_index: number; group_key: string },
): Promise<GroupRow | undefined> {
  const rows = await sql.query<GroupRow & Record<string, unknown>>(
    `SELECT t.group_type, g.group_type_index, g.group_key, g.group_properties, g.created_at
       FROM "group" g
       LEFT JOIN group_type_mapping t ON t.project_id = g.project_id AND t.group_type_index = g.group_type_index
      WHERE g.project_id = $1::int AND g.group_type_index = $2::int AND g.group_key = $3::text`,
    [projectId, group_type_index, group_key],
  );
  return rows[0];
}
