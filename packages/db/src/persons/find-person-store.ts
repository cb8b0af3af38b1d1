import type { Sql } from '../transaction.ts';

export interface FoundPerson {
  uuid: string;
  /** What of the person the text is. */
  by: 'uuid' | 'number' | 'distinct_id';
}

/**
 * The persons a text may mean, the likeliest first: the one with this uuid, the one with this number, the one this distinct
 * id belongs to. Two at most, as nothing is both a uuid and a number.
 */
export async function findPersons(sql: Sql, projectId: number, text: string): Promise<FoundPerson[]> {
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
