import type { Sql } from '@millrace/db';

/**
 * Lists the distinct IDs of each person, at most `maxDistinctIdsShown`. The main ID comes first, followed by the others
 * in the order in which they were added. Persons who have been merged into another person in the meantime are missing
 * from the result.
 */
export async function listDistinctIds(
  sql: Sql,
  projectId: number,
  persons: { uuid: string; main_distinct_id: string }[],
): Promise<Map<string, string[]>> {
  const rows = await sql.query<{ person_uuid: string; distinct_ids: string[] }>(
    `SELECT wanted.uuid AS person_uuid, array_agg(ids.distinct_id ORDER BY ids.is_main DESC, ids.id) AS distinct_ids
       FROM unnest($2::uuid[], $3::text[]) AS wanted (uuid, main_distinct_id)
      CROSS JOIN LATERAL (
            SELECT d.distinct_id, d.id, d.distinct_id = wanted.main_distinct_id AS is_main
              FROM person_distinct_id d
             WHERE d.project_id = $1 AND d.person_uuid = wanted.uuid
             ORDER BY is_main DESC, d.id
             LIMIT $4) AS ids
      GROUP BY wanted.uuid`,
    [projectId, persons.map((p) => p.uuid), persons.map((p) => p.main_distinct_id), maxDistinctIdsShown],
  );
  return new Map(rows.map((row) => [row.person_uuid, row.distinct_ids]));
}

/** SQL for the total size in bytes of a person's distinct IDs in a response, including quotes and commas. */
export function distinctIdBytes(projectId: string, personUuid: string): string {
  return `(SELECT coalesce(sum(octet_length(shown.distinct_id) + 3), 0)
             FROM (SELECT d.distinct_id FROM person_distinct_id d
                    WHERE d.project_id = ${projectId} AND d.person_uuid = ${personUuid} LIMIT ${maxDistinctIdsShown}) AS shown)`;
}

/** Maximum number of a person's distinct IDs in a response. */
export const maxDistinctIdsShown = 100;

/**
 * Returns a person's distinct IDs in the order of addition, and how often each was moved from one person to another.
 */
export async function listIdsOfPerson(
  sql: Sql,
  projectId: number,
  uuid: string,
  most = maxDistinctIdsShown,
): Promise<{ distinct_id: string; moves: number }[]> {
  return sql.query<{ distinct_id: string; moves: number }>(
    `SELECT distinct_id, version::int AS moves FROM person_distinct_id
      WHERE project_id = $1::int AND person_uuid = $2::uuid ORDER BY id LIMIT $3`,
    [projectId, uuid, most],
  );
}
