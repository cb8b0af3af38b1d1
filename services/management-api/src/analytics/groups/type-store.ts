// SQL that reads and renames a project's group types, such as "company".

import type { Columns, Sql, Transaction } from '@millrace/db';

export type GroupTypeRow = Columns<
  'group_type_mapping',
  'group_type' | 'group_type_index' | 'name_singular' | 'name_plural' | 'created_at'
>;
type Row = GroupTypeRow & Record<string, unknown>;

const ofProject = `SELECT group_type, group_type_index, name_singular, name_plural, created_at FROM group_type_mapping
  WHERE project_id = $1 ORDER BY group_type_index`;

/** A project has at most five group types. */
export async function listGroupTypes(sql: Sql, projectId: number): Promise<GroupTypeRow[]> {
  return sql.query<Row>(ofProject, [projectId]);
}

export async function lockGroupTypes(tx: Transaction, projectId: number): Promise<GroupTypeRow[]> {
  return tx.query<Row>(`${ofProject} FOR UPDATE`, [projectId]);
}

export async function updateGroupType(
  tx: Transaction,
  projectId: number,
  { group_type_index, name_singular, name_plural }: GroupTypeRow,
): Promise<void> {
  await tx.query(
    'UPDATE group_type_mapping SET name_singular = $3, name_plural = $4 WHERE project_id = $1 AND group_type_index = $2',
    [projectId, group_type_index, name_singular, name_plural],
  );
}
