// SQL that reads and writes the person and group data that flag evaluation needs.

import type { Sql } from '@millrace/db/sql';

export interface FlagUser {
  environmentId: number;
  distinctId: string;
}

/**
 * Selects stored properties by name, because a person may have hundreds and flags need only a few. The concatenation
 * with an empty object makes PostgreSQL decompress the column only once, and not again for each name.
 */
const named = (column: string, names: string) =>
  `LATERAL (SELECT ${column} || '{}'::jsonb AS whole OFFSET 0) unpacked
   CROSS JOIN LATERAL (
     SELECT coalesce(jsonb_object_agg(name, whole -> name), '{}') AS properties
       FROM unnest(${names}::text[]) AS name
      WHERE whole ? name
   ) named`;

const personText = `
  SELECT named.properties
    FROM person_distinct_id d
    JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
   CROSS JOIN ${named('p.properties', '$3')}
   WHERE d.project_id = $1::int AND d.distinct_id = $2`;

/** Reads those properties of a person that have the given names. Returns an empty object for an unknown person. */
export async function findPersonProperties(
  sql: Sql,
  { environmentId, distinctId }: FlagUser,
  names: readonly string[],
): Promise<Record<string, unknown>> {
  const [row] = await sql.query<{ properties: Record<string, unknown> }>(personText, [
    environmentId,
    distinctId,
    names,
  ]);
  return row?.properties ?? {};
}

export interface GroupRow {
  groupType: number;
  properties: Record<string, unknown>;
}

const groupsText = `
  SELECT g.group_type_index AS "groupType", named.properties
    FROM unnest($2::int[], $3::text[]) AS requested (group_type_index, group_key)
    JOIN "group" g USING (group_type_index, group_key)
   CROSS JOIN ${named('g.group_properties', '$4')}
   WHERE g.project_id = $1::int`;

/** Reads those properties of groups that have the given names. Omits unknown groups. */
export async function findGroupProperties(
  sql: Sql,
  environmentId: number,
  groups: readonly { groupType: number; key: string; properties: readonly string[] }[],
): Promise<GroupRow[]> {
  return sql.query<GroupRow & Record<string, unknown>>(groupsText, [
    environmentId,
    groups.map(({ groupType }) => groupType),
    groups.map(({ key }) => key),
    groups.flatMap(({ properties }) => properties),
  ]);
}

/** Returns which of the given static cohorts the person belongs to. */
export async function findStaticCohorts(
  sql: Sql,
  { environmentId, distinctId }: FlagUser,
  cohortIds: readonly number[],
): Promise<number[]> {
  const rows = await sql.query<{ cohort_id: number }>(
    `SELECT m.cohort_id
       FROM person_distinct_id d
       JOIN cohort_member m ON m.project_id = d.project_id AND m.person_uuid = d.person_uuid
      WHERE d.project_id = $1::int AND d.distinct_id = $2 AND m.cohort_id = ANY ($3::int[])`,
    [environmentId, distinctId, cohortIds],
  );
  return rows.map(({ cohort_id }) => cohort_id);
}

/** A person's hash key for a flag. The key is null if the person has no stored key. */
export interface HashKeyRow {
  distinctId: string;
  personUuid: string;
  flagKey: string | null;
  hashKey: string | null;
}

/** Reads the hash keys of the persons to whom these distinct IDs belong. Returns at least one row per person. */
export async function findHashKeys(
  sql: Sql,
  environmentId: number,
  distinctIds: readonly string[],
): Promise<HashKeyRow[]> {
  return sql.query<HashKeyRow & Record<string, unknown>>(
    `SELECT d.distinct_id AS "distinctId", d.person_uuid AS "personUuid", h.flag_key AS "flagKey",
            h.hash_key AS "hashKey"
       FROM person_distinct_id d
       LEFT JOIN feature_flag_hash_key h ON h.project_id = d.project_id AND h.person_uuid = d.person_uuid
      WHERE d.project_id = $1::int AND d.distinct_id = ANY ($2::text[])`,
    [environmentId, distinctIds],
  );
}

/**
 * Stores a hash key for each combination of person and flag, unless it already has one. Returns the stored keys.
 *
 * Locks the persons until the rows are written, in the order in which all code locks persons. A person that is being
 * merged or deleted gets no row, so that no orphaned rows remain.
 */
export async function storeHashKeys(
  sql: Sql,
  environmentId: number,
  { personUuids, flagKeys, hashKey }: { personUuids: readonly string[]; flagKeys: readonly string[]; hashKey: string },
): Promise<Omit<HashKeyRow, 'distinctId'>[]> {
  return sql.query<Omit<HashKeyRow, 'distinctId'> & Record<string, unknown>>(
    `WITH held AS (
       SELECT uuid FROM person WHERE project_id = $1::int AND uuid = ANY ($2::uuid[]) ORDER BY uuid FOR KEY SHARE
     )
     INSERT INTO feature_flag_hash_key AS stored (project_id, person_uuid, flag_key, hash_key)
     SELECT $1::int, held.uuid, flag.key, $4
       FROM held CROSS JOIN unnest($3::text[]) AS flag (key)
      ORDER BY held.uuid, flag.key
     ON CONFLICT (project_id, person_uuid, flag_key) DO UPDATE SET hash_key = stored.hash_key
     RETURNING person_uuid AS "personUuid", flag_key AS "flagKey", hash_key AS "hashKey"`,
    [environmentId, personUuids, flagKeys, hashKey],
  );
}
