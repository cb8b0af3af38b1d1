/** Finds the person with an ID, and reads a person's details. */

import { AppError } from '@millrace/runtime';
import type { Sql } from '../transaction.ts';

interface FoundPerson {
  uuid: string;
  by: 'uuid' | 'number' | 'distinct_id';
}

/** Finds a person by UUID, by number or by distinct ID, in this order. @throws AppError `not_found` */
export async function findPerson(sql: Sql, projectId: number, id: string): Promise<FoundPerson> {
  const [found] = await candidates(sql, projectId, id);
  if (found === undefined) throw personNotFound();
  return found;
}

/**
 * Finds a person for an operation that cannot be undone. Rejects an ambiguous ID, such as "42" if it is one person's
 * distinct ID and another person's number.
 * @throws AppError `not_found`, or `invalid` if the ID refers to one person and is a distinct ID of another
 */
export async function findPersonToDelete(sql: Sql, projectId: number, id: string): Promise<FoundPerson> {
  const [found, other] = await candidates(sql, projectId, id);
  if (found === undefined) throw personNotFound();
  if (other !== undefined && other.uuid !== found.uuid) {
    const detail = `This is the ${found.by} of one person and a distinct ID of another. Use the UUID of the person instead.`;
    throw new AppError('invalid', detail, { attr: 'id' });
  }
  return found;
}

function personNotFound(): AppError {
  return new AppError('not_found', 'Not found.', { details: { resource: 'Person' } });
}

/**
 * Finds the persons with an ID. PostgreSQL cannot store NUL characters, so an ID that contains one matches no person.
 */
async function candidates(sql: Sql, projectId: number, id: string): Promise<FoundPerson[]> {
  return id.includes('\u0000') ? [] : findPersons(sql, projectId, id);
}

export interface PersonDetails {
  uuid: string;
  id: number;
  distinct_ids: string[];
  is_identified: boolean;
  properties: Record<string, unknown>;
  created_at: Date;
}

/**
 * Returns a person with all distinct IDs, starting with the main ID.
 * @throws AppError `not_found`
 */
export async function readPersonDetails(sql: Sql, projectId: number, id: string): Promise<PersonDetails> {
  const { uuid } = await findPerson(sql, projectId, id);
  const [row] = await sql.query<PersonDetails & Record<string, unknown>>(
    `SELECT p.uuid::text AS uuid, p.id::float8 AS id, p.is_identified, p.properties, p.created_at,
            ARRAY(SELECT d.distinct_id FROM person_distinct_id d
                   WHERE d.project_id = p.project_id AND d.person_uuid = p.uuid
                   ORDER BY d.distinct_id = p.main_distinct_id DESC, d.id) AS distinct_ids
       FROM person p WHERE p.project_id = $1::int AND p.uuid = $2::uuid`,
    [projectId, uuid],
  );
  // A missing row means that the person was merged or deleted in the meantime.
  return row ?? readPersonDetails(sql, projectId, id);
}

/**
 * Returns the persons that an ID may refer to, in order of priority: by UUID, by number, by distinct ID. The result has
 * at most two persons, because no ID is both a UUID and a number.
 */
async function findPersons(sql: Sql, projectId: number, text: string): Promise<FoundPerson[]> {
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
  const isNumber = /^\d{1,18}$/.test(text);
  return sql.query<FoundPerson & Record<string, unknown>>(
    `SELECT uuid, by FROM (
       SELECT uuid, 'uuid' AS by, 1 AS rank FROM person WHERE project_id = $1::int AND uuid = $2::uuid
        UNION ALL
       SELECT uuid, 'number', 2 FROM person WHERE project_id = $1::int AND id = $3::bigint
        UNION ALL
       SELECT person_uuid, 'distinct_id', 3 FROM person_distinct_id
        WHERE project_id = $1::int AND distinct_id = $4::text) AS found
      ORDER BY rank`,
    [projectId, isUuid ? text : null, isNumber ? text : null, text],
  );
}
