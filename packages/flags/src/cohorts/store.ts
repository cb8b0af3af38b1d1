// SQL that reads persons page by page, and reads and writes the members of static cohorts.

import type { ReadLimits, ReadPool, Sql, Transaction } from '@millrace/db';

export interface StaticCohort {
  projectId: number;
  cohortId: number;
}

/**
 * Adds persons to a static cohort, and ignores existing members. Locks persons in the same order as the consumer, and
 * therefore waits for a merge in progress. A later merge moves the new rows.
 * @returns the UUIDs of the persons that exist
 */
export async function insertCohortMembers(
  tx: Transaction,
  { projectId, cohortId }: StaticCohort,
  uuids: readonly string[],
): Promise<string[]> {
  if (uuids.length === 0) return [];
  const locked = await tx.query<{ uuid: string }>(
    `SELECT uuid FROM person WHERE project_id = $1 AND uuid = ANY ($2::uuid[]) ORDER BY uuid FOR SHARE`,
    [projectId, uuids],
  );
  const found = locked.map(({ uuid }) => uuid);
  await tx.query(
    `INSERT INTO cohort_member (project_id, cohort_id, person_uuid)
     SELECT $1, $2, uuid FROM unnest($3::uuid[]) AS uuid ON CONFLICT (project_id, cohort_id, person_uuid) DO NOTHING`,
    [projectId, cohortId, found],
  );
  return found;
}

/** A person with one of their distinct IDs, which still identifies the person after a merge. */
export interface NamedPerson {
  uuid: string;
  distinctId: string;
}

/** Finds persons by UUID, distinct ID or the property `email`. Returns each person once. */
export async function findPersons(
  tx: Transaction,
  projectId: number,
  { by, values }: { by: 'person_id' | 'distinct_id' | 'email'; values: readonly string[] },
): Promise<NamedPerson[]> {
  if (values.length === 0) return [];
  const texts = {
    person_id: `SELECT p.uuid, p.main_distinct_id AS "distinctId" FROM person p
                 WHERE p.project_id = $1 AND p.uuid = ANY ($2::text[]::uuid[])`,
    distinct_id: `SELECT DISTINCT ON (d.person_uuid) d.person_uuid AS uuid, d.distinct_id AS "distinctId"
                    FROM person_distinct_id d
                   WHERE d.project_id = $1 AND d.distinct_id = ANY ($2::text[]) ORDER BY d.person_uuid`,
    // Use the column `email_start`, because it has an index.
    email: `SELECT p.uuid, p.main_distinct_id AS "distinctId"
              FROM (SELECT DISTINCT unnest($2::text[]) AS email) AS requested
              JOIN person p ON p.project_id = $1 AND p.email_start = left(lower(requested.email), 320)
                           AND p.properties->>'email' = requested.email`,
  };
  return tx.query<NamedPerson & Record<string, unknown>>(texts[by], [projectId, values]);
}

export async function countStaticCohortMembers(
  tx: Transaction,
  { projectId, cohortId }: StaticCohort,
): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM cohort_member WHERE project_id = $1 AND cohort_id = $2',
    [projectId, cohortId],
  );
  return rows[0]?.count ?? 0;
}

/** The person's properties and IDs on which filters and rollouts can depend. */
export interface EvaluatedPerson {
  main_distinct_id: string;
  properties: Record<string, unknown>;
  static_cohort_ids: number[];
  /** For each flag with a stored hash key for the person, the ID to hash, by flag key. */
  hash_keys: Record<string, string>;
}

export interface StoredPerson extends EvaluatedPerson {
  uuid: string;
}

/** Subqueries for the cohorts and hash keys of person `p`. `$1` is the project ID. */
const knownOfPerson = `ARRAY(SELECT m.cohort_id FROM cohort_member m
                   WHERE m.project_id = $1 AND m.person_uuid = p.uuid) AS static_cohort_ids,
            (SELECT coalesce(jsonb_object_agg(h.flag_key, h.hash_key), '{}') FROM feature_flag_hash_key h
              WHERE h.project_id = $1 AND h.person_uuid = p.uuid) AS hash_keys`;

export async function readStoredPerson(sql: Sql, projectId: number, uuid: string): Promise<StoredPerson | undefined> {
  const [row] = await sql.query<StoredPerson & Record<string, unknown>>(
    `SELECT p.uuid, p.main_distinct_id, p.properties, ${knownOfPerson}
       FROM person p WHERE p.project_id = $1 AND p.uuid = $2::uuid`,
    [projectId, uuid],
  );
  return row;
}

/** Approximate memory limit for a page, in bytes. If persons have large records, a page contains fewer of them. */
const maxBytes = 2 * 1024 * 1024;

/**
 * Reads a project's persons after the person `after`, in the order of their UUIDs. A page can end early, with the
 * person that exceeds the memory limit, so only an empty page means that there are no more persons.
 */
export async function readPersonPage(
  sql: Sql,
  projectId: number,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredPerson[]> {
  return sql.query<StoredPerson & Record<string, unknown>>(
    `SELECT p.uuid, p.main_distinct_id, p.properties, ${knownOfPerson}
       FROM (SELECT p.uuid, p.main_distinct_id, p.properties, p.bytes,
                    sum(p.bytes) OVER (ORDER BY p.uuid ROWS UNBOUNDED PRECEDING) AS running
               FROM (SELECT uuid, main_distinct_id, properties,
                            CASE WHEN pg_column_compression(properties) IS NULL THEN pg_column_size(properties)
                                 ELSE octet_length(properties::text) END AS bytes
                       FROM person
                      WHERE project_id = $1 AND uuid > $2::uuid
                      ORDER BY uuid LIMIT $3) AS p) AS p
      WHERE p.running - p.bytes < ${maxBytes}
      ORDER BY p.uuid`,
    [projectId, after ?? '00000000-0000-0000-0000-000000000000', limit],
  );
}

/** A set of properties and static cohorts by whose values persons are grouped. */
export interface PersonGrouping {
  properties: readonly string[];
  staticCohorts: readonly number[];
}

export interface PersonCount {
  /** The index of the set in the requested `values`. */
  values: number;
  /** A person that has only the grouped properties and static cohorts. */
  person: EvaluatedPerson;
  count: number;
}

/**
 * Counts a project's persons by their values, for several sets of properties and static cohorts in one pass over the
 * persons. No two sets may be equal.
 * @param maxPersons the maximum number of persons to read, in no particular order, or null for all
 * @throws ReadLimitExceeded
 */
export async function countPersonsByValues(
  reader: Pick<ReadPool, 'read'>,
  {
    projectId,
    values,
    maxPersons,
  }: { projectId: number; values: readonly PersonGrouping[]; maxPersons: number | null },
  limits: ReadLimits,
): Promise<PersonCount[]> {
  const properties = [...new Set(values.flatMap((one) => one.properties))];
  const cohorts = [...new Set(values.flatMap((one) => one.staticCohorts))];
  const columns = [
    ...properties.map((_, at) => `p.properties -> $${at + 2}::text AS v${at}`),
    ...cohorts.map(
      (id) => `EXISTS (SELECT FROM cohort_member m
        WHERE m.project_id = $1 AND m.cohort_id = ${Math.trunc(id)} AND m.person_uuid = p.uuid) AS c${Math.trunc(id)}`,
    ),
  ];
  const namesOf = (one: PersonGrouping) => [
    ...one.properties.map((name) => `v${properties.indexOf(name)}`),
    ...one.staticCohorts.map((id) => `c${Math.trunc(id)}`),
  ];
  const names = namesOf({ properties, staticCohorts: cohorts });
  // The result of SQL's `grouping` has a bit for each column, which is set if the row is not grouped by that column.
  const maskOf = (selected: string[]) => names.reduce((mask, name) => mask * 2 + (selected.includes(name) ? 0 : 1), 0);
  const byMask = new Map(values.map((one, at) => [maskOf(namesOf(one)), at]));
  const shown = [...properties.map((_, at) => `v${at}::text`), ...cohorts.map((id) => `c${Math.trunc(id)}`)];
  const limit = maxPersons === null ? '' : `LIMIT ${Math.trunc(maxPersons)}`;
  const text = `SELECT ${[names.length === 0 ? '0' : `grouping(${names.join(', ')})`, 'count(*)', ...shown].join(', ')}
      FROM (SELECT ${['p.uuid', ...columns].join(', ')} FROM person p WHERE p.project_id = $1 ${limit}) AS p
     GROUP BY GROUPING SETS (${values.map((one) => `(${namesOf(one).join(', ')})`).join(', ')})`;
  const found: PersonCount[] = [];
  await reader.read(text, [projectId, ...properties], limits, ([mask, count, ...row]) => {
    const selected = byMask.get(Number(mask)) ?? 0;
    const isPresent = (at: number) => row[at] !== null;
    found.push({
      values: selected,
      count: Number(count),
      person: {
        main_distinct_id: '',
        properties: Object.fromEntries(
          properties.flatMap((name, at) => (isPresent(at) ? [[name, JSON.parse(String(row[at]))]] : [])),
        ),
        static_cohort_ids: cohorts.filter((_, at) => row[properties.length + at] === true),
        hash_keys: {},
      },
    });
  });
  return found;
}
