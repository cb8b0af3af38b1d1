import type { Sql } from '@millrace/db';

export interface CohortReference {
  environmentId: number;
  cohortId: number;
}

export interface GroupReference {
  environmentId: number;
  groupTypeIndex: number;
  groupKey: string;
}

/** Of a group's name, which is whatever its events said. */
const maxNameLength = 400;

/** Names of cohorts, deleted ones too, by id. Those without one are left out. */
export async function findCohortNames(sql: Sql, references: readonly CohortReference[]): Promise<Map<number, string>> {
  if (references.length === 0) return new Map();
  const rows = await sql.query<{ id: number; name: string }>(
    `SELECT id, name FROM cohort
      WHERE (project_id, id) IN (SELECT * FROM unnest($1::int[], $2::int[])) AND name <> ''`,
    [references.map(({ environmentId }) => environmentId), references.map(({ cohortId }) => cohortId)],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** What groups are called by their property `name`. Those without one are left out. */
export async function findGroupNames(
  sql: Sql,
  references: readonly GroupReference[],
): Promise<(GroupReference & { name: string })[]> {
  if (references.length === 0) return [];
  return sql.query<GroupReference & { name: string } & Record<string, unknown>>(
    `SELECT project_id AS "environmentId", group_type_index AS "groupTypeIndex", group_key AS "groupKey",
            left(group_properties ->> 'name', ${maxNameLength}) AS name
       FROM "group"
      WHERE (project_id, group_type_index, group_key) IN (SELECT * FROM unnest($1::int[], $2::int[], $3::text[]))
        AND group_properties ->> 'name' <> ''`,
    [
      references.map(({ environmentId }) => environmentId),
      references.map(({ groupTypeIndex }) => groupTypeIndex),
      references.map(({ groupKey }) => groupKey),
    ],
  );
}
