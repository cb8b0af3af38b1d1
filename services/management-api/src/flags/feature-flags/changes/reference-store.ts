// SQL that finds the records that feature flags reference: other flags, cohorts, groups and early access features.

import type { Sql } from '@millrace/db';

/** A flag that is not deleted, and the IDs of the flags in its conditions. */
export interface DependentFlag {
  id: number;
  key: string;
  name: string;
  active: boolean;
  needs: number[];
}

const flagFilters = '$.groups[*].properties[*] ? (@.type == "flag")';

export async function findDependentFlags(sql: Sql, environmentId: number): Promise<DependentFlag[]> {
  return sql.query<DependentFlag & Record<string, unknown>>(
    `SELECT f.id, f.key, f.name, f.active,
            ARRAY(SELECT DISTINCT (needed #>> '{}')::int FROM jsonb_path_query(f.filters, '${flagFilters}.key') AS needed
                   WHERE needed #>> '{}' ~ '^\\d{1,9}$') AS needs
       FROM feature_flag f
      WHERE f.project_id = $1 AND NOT f.deleted AND f.filters @? '${flagFilters}'
      ORDER BY f.id`,
    [environmentId],
  );
}

/** Finds flags that are not deleted. */
export async function findLiveFlags(
  sql: Sql,
  environmentId: number,
  ids: number[],
): Promise<Omit<DependentFlag, 'needs'>[]> {
  return sql.query<Omit<DependentFlag, 'needs'> & Record<string, unknown>>(
    'SELECT id, key, name, active FROM feature_flag WHERE project_id = $1 AND id = ANY ($2::int[]) AND NOT deleted ORDER BY id',
    [environmentId, ids],
  );
}

export async function hasEarlyAccessFeature(sql: Sql, flagId: number): Promise<boolean> {
  return (await findFlagsWithFeatures(sql, [flagId])).size > 0;
}

export async function findFlagIdsByKey(sql: Sql, environmentId: number, keys: string[]): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: number; key: string }>(
    'SELECT id, key FROM feature_flag WHERE project_id = $1 AND key = ANY ($2::text[]) AND NOT deleted',
    [environmentId, keys],
  );
  return new Map(rows.map(({ id, key }) => [key, id]));
}

export async function findFlagsWithFeatures(sql: Sql, flagIds: number[]): Promise<Set<number>> {
  const rows = await sql.query<{ id: number }>(
    'SELECT feature_flag_id AS id FROM early_access_feature WHERE feature_flag_id = ANY ($1::int[])',
    [flagIds],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Several cohorts can have the same name. Returns the ID of the oldest one, or null if no cohort has this name. */
export async function findCohortIdByName(sql: Sql, environmentId: number, name: string): Promise<number | null> {
  const rows = await sql.query<{ id: number }>(
    `SELECT id FROM cohort WHERE project_id = $1 AND coalesce(name, '') = $2 AND NOT deleted ORDER BY id LIMIT 1`,
    [environmentId, name],
  );
  return rows[0]?.id ?? null;
}

interface CohortReference {
  environmentId: number;
  cohortId: number;
}

export interface GroupReference {
  environmentId: number;
  groupTypeIndex: number;
  groupKey: string;
}

/** Maximum length of a group name in responses. Events can set names of any length. */
const maxNameLength = 400;

/** Returns cohort names by ID, including those of deleted cohorts. Omits cohorts without a name. */
export async function findCohortNames(sql: Sql, references: readonly CohortReference[]): Promise<Map<number, string>> {
  if (references.length === 0) return new Map();
  const rows = await sql.query<{ id: number; name: string }>(
    `SELECT id, name FROM cohort
      WHERE (project_id, id) IN (SELECT * FROM unnest($1::int[], $2::int[])) AND name <> ''`,
    [references.map(({ environmentId }) => environmentId), references.map(({ cohortId }) => cohortId)],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Returns group names, which are stored in the groups' property `name`. Omits groups without a name. */
export async function findGroupNames(
  sql: Sql,
  references: readonly GroupReference[],
): Promise<(GroupReference & { name: string })[]> {
  if (references.length === 0) return [];
  return sql.query<GroupReference & { name: string } & Record<string, unknown>>(
    `SELECT project_id AS "environmentId", group_type_index AS "groupTypeIndex", group_key AS "groupKey",
            left(group_properties ->> 'name', ${maxNameLength}) AS name
       FROM "group"
      WHERE (project_id, group_type_index, group_key) IN (SELECT * FROM unnest($1::int[], $2::int[], $3::text[]))
        AND group_properties ->> 'name' <> ''`,
    [
      references.map(({ environmentId }) => environmentId),
      references.map(({ groupTypeIndex }) => groupTypeIndex),
      references.map(({ groupKey }) => groupKey),
    ],
  );
}
