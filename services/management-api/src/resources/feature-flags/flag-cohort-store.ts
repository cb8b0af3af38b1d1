import type { Sql } from '@millrace/db';

export interface NamedCohort {
  id: number;
  name: string;
  /** Asks for what persons did, which nobody knows when a flag is asked for. */
  isAboutBehavior: boolean;
}

/**
 * The cohorts with these ids and those they are made of, without the deleted ones. A static one is made of nothing: its
 * members are known.
 */
export async function findCohortsWithParts(sql: Sql, environmentId: number, ids: number[]): Promise<NamedCohort[]> {
  return sql.query<NamedCohort & Record<string, unknown>>(
    `WITH RECURSIVE used (id) AS (
       SELECT unnest($2::int[])
        UNION
       SELECT (part #>> '{}')::int
         FROM used JOIN cohort c ON c.id = used.id
        CROSS JOIN LATERAL jsonb_path_query(c.filters, '$.** ? (@.type == "cohort").value') AS part
        WHERE c.project_id = $1 AND NOT c.deleted AND NOT c.is_static AND part #>> '{}' ~ '^\\d{1,9}$'
     )
     SELECT c.id, coalesce(c.name, '') AS name,
            NOT c.is_static AND (
              coalesce(c.filters @? '$.** ? (@.type == "behavioral")', false)
              OR c.groups @? '$[*] ? (exists (@.event_id) || exists (@.action_id))') AS "isAboutBehavior"
       FROM cohort c
      WHERE c.project_id = $1 AND NOT c.deleted AND c.id IN (SELECT id FROM used)
      ORDER BY c.id`,
    [environmentId, ids],
  );
}

/** The oldest cohort with a name; null when there is none. */
export async function findCohortIdByName(sql: Sql, environmentId: number, name: string): Promise<number | null> {
  const rows = await sql.query<{ id: number }>(
    `SELECT id FROM cohort WHERE project_id = $1 AND coalesce(name, '') = $2 AND NOT deleted ORDER BY id LIMIT 1`,
    [environmentId, name],
  );
  return rows[0]?.id ?? null;
}
