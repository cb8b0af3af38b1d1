import type { Sql } from '@millrace/db';

/** SQL of the ids that filters name as cohorts, wherever they stand in them. */
const namedIn = (filters: string) =>
  `SELECT (leaf.value #>> '{}')::int AS id
     FROM jsonb_path_query(${filters}, 'strict $.** ? (@.type() == "object" && @.type == "cohort" && exists(@.value)).value')
       AS leaf (value)
    WHERE (leaf.value #>> '{}') ~ '^[0-9]{1,9}$'`;

export interface NamedCohort {
  id: number;
  name: string | null;
  /** Asks for what persons did, which nobody knows when a flag is asked for. */
  is_behavioral: boolean;
}

/**
 * Those of some cohorts that exist, and all they are made of: each once, however they name each other. A static one is made
 * of nothing, and asks for nothing: its members are known.
 */
export async function findCohortsWithin(sql: Sql, environmentId: number, ids: number[]): Promise<NamedCohort[]> {
  return sql.query<NamedCohort & Record<string, unknown>>(
    `WITH RECURSIVE reached (id) AS (
       SELECT unnest($2::int[])
        UNION
       SELECT named.id
         FROM reached JOIN cohort c ON c.id = reached.id AND c.project_id = $1 AND NOT c.deleted AND NOT c.is_static
        CROSS JOIN LATERAL (${namedIn('c.filters')}) AS named)
     SELECT c.id, c.name,
            NOT c.is_static AND (
              coalesce(c.cohort_type = 'behavioral', false)
              OR coalesce(c.filters @? '$.** ? (@.type == "behavioral")', false)
              OR c.groups @? '$[*] ? (exists (@.event_id) || exists (@.action_id))') AS is_behavioral
       FROM cohort c JOIN reached USING (id) WHERE c.project_id = $1 AND NOT c.deleted ORDER BY c.id`,
    [environmentId, ids],
  );
}

/** The keys of active flags whose filters name a cohort, or one that is made of it. */
export async function flagsThatUse(sql: Sql, environmentId: number, cohortId: number): Promise<string[]> {
  const rows = await sql.query<{ key: string }>(
    `WITH RECURSIVE made_of AS MATERIALIZED (
       SELECT c.id, named.id AS part FROM cohort c CROSS JOIN LATERAL (${namedIn('c.filters')}) AS named
        WHERE c.project_id = $1 AND NOT c.deleted AND NOT c.is_static
     ), reached (id) AS (
       SELECT $2::int UNION SELECT made_of.id FROM reached JOIN made_of ON made_of.part = reached.id)
     SELECT f.key FROM feature_flag f
      WHERE f.project_id = $1 AND f.active AND NOT f.deleted
        AND EXISTS (SELECT FROM (${namedIn('f.filters')}) AS named JOIN reached USING (id))
      ORDER BY f.key`,
    [environmentId, cohortId],
  );
  return rows.map(({ key }) => key);
}
