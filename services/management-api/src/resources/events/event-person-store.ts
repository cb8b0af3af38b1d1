import type { Sql } from '@millrace/db';

export interface EventPersonRow {
  /** The distinct id asked for. */
  distinct_id: string;
  uuid: string;
  main_distinct_id: string;
  properties: Record<string, unknown>;
}

/** The persons some distinct ids belong to now. An id that belongs to nobody is absent. */
export async function listPersonsOfDistinctIds(
  sql: Sql,
  projectId: number,
  distinctIds: string[],
): Promise<EventPersonRow[]> {
  return sql.query<EventPersonRow & Record<string, unknown>>(
    `SELECT d.distinct_id, p.uuid, p.main_distinct_id, p.properties
       FROM person_distinct_id d
       JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
      WHERE d.project_id = $1 AND d.distinct_id = ANY ($2::text[])`,
    [projectId, distinctIds],
  );
}

/** Whether the person exists now, with at least one distinct id. */
export async function hasDistinctIds(sql: Sql, projectId: number, personUuid: string): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM person_distinct_id WHERE project_id = $1 AND person_uuid = $2 LIMIT 1', [
    projectId,
    personUuid,
  ]);
  return rows.length > 0;
}
