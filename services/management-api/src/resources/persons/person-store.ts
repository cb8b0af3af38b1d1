import type { Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';

export interface PersonRow {
  id: string;
  uuid: string;
  main_distinct_id: string;
  properties: Record<string, unknown>;
  is_identified: boolean;
  created_at: Date;
}

export interface PersonFilter {
  distinct_id?: string;
  email?: string;
  search?: string;
}

/**
 * Persons of a project, the newest first, below `belowId`. Email and search look at every person of the project in that
 * order until the page is full.
 */
export async function listPersons(
  sql: Sql,
  projectId: number,
  { distinct_id, email, search }: PersonFilter,
  { belowId, limit }: { belowId: string | null; limit: number },
): Promise<PersonRow[]> {
  const where = createConditions();
  const project = where.parameter(projectId);
  where.add(`p.project_id = ${project}`);
  if (belowId !== null) where.add(`p.id < ${where.parameter(belowId)}`);
  if (distinct_id !== undefined) {
    where.add(`p.uuid = (SELECT d.person_uuid FROM person_distinct_id d
                          WHERE d.project_id = ${project} AND d.distinct_id = ${where.parameter(distinct_id)})`);
  }
  if (email !== undefined) where.add(`p.properties->>'email' = ${where.parameter(email)}`);
  if (search !== undefined && search !== '') {
    const wanted = `lower(${where.parameter(search)}::text)`;
    where.add(`(strpos(lower(p.properties->>'email'), ${wanted}) > 0
             OR strpos(lower(p.properties->>'name'), ${wanted}) > 0
             OR EXISTS (SELECT 1 FROM person_distinct_id d
                         WHERE d.project_id = ${project} AND d.person_uuid = p.uuid
                           AND strpos(lower(d.distinct_id), ${wanted}) > 0))`);
  }
  return sql.query<PersonRow & Record<string, unknown>>(
    `SELECT p.id, p.uuid, p.main_distinct_id, p.properties, p.is_identified, p.created_at
       FROM person p
      WHERE ${where.text()}
      ORDER BY p.id DESC
      LIMIT ${where.parameter(limit)}`,
    where.values,
  );
}

export async function readPerson(sql: Sql, projectId: number, uuid: string): Promise<PersonRow | undefined> {
  const rows = await sql.query<PersonRow & Record<string, unknown>>(
    `SELECT id, uuid, main_distinct_id, properties, is_identified, created_at
       FROM person WHERE project_id = $1::int AND uuid = $2::uuid`,
    [projectId, uuid],
  );
  return rows[0];
}
