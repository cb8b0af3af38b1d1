import type { Sql } from '../transaction.ts';
import { findPerson } from './find-person.ts';

export interface ShownPerson {
  uuid: string;
  id: number;
  distinct_ids: string[];
  is_identified: boolean;
  properties: Record<string, unknown>;
  created_at: Date;
}

/** One person with all its distinct ids, the main one first. @throws AppError `not_found`. */
export async function showPerson(sql: Sql, projectId: number, id: string): Promise<ShownPerson> {
  const { uuid } = await findPerson(sql, projectId, id);
  const [row] = await sql.query<ShownPerson & Record<string, unknown>>(
    `SELECT p.uuid::text AS uuid, p.id::float8 AS id, p.is_identified, p.properties, p.created_at,
            ARRAY(SELECT d.distinct_id FROM person_distinct_id d
                   WHERE d.project_id = p.project_id AND d.person_uuid = p.uuid
                   ORDER BY d.distinct_id = p.main_distinct_id DESC, d.id) AS distinct_ids
       FROM person p WHERE p.project_id = $1::int AND p.uuid = $2::uuid`,
    [projectId, uuid],
  );
  // Deleted in between.
  return row ?? showPerson(sql, projectId, id);
}
