import type { Sql } from '@millrace/db';

/** A flag that is not deleted, with the ids of the flags its conditions ask about. */
export interface DependentFlag {
  id: number;
  key: string;
  name: string;
  active: boolean;
  needs: number[];
}

const flagFilters = '$.groups[*].properties[*] ? (@.type == "flag")';

/** The flags of an environment that depend on others. */
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

/** Flags by id, without the deleted ones. */
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

/** Ids of the flags that have these keys now, by key. */
export async function findFlagIdsByKey(sql: Sql, environmentId: number, keys: string[]): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: number; key: string }>(
    'SELECT id, key FROM feature_flag WHERE project_id = $1 AND key = ANY ($2::text[]) AND NOT deleted',
    [environmentId, keys],
  );
  return new Map(rows.map(({ id, key }) => [key, id]));
}

/** Those of the flags that an early access feature is made of. */
export async function findFlagsWithFeatures(sql: Sql, flagIds: number[]): Promise<Set<number>> {
  const rows = await sql.query<{ id: number }>(
    'SELECT feature_flag_id AS id FROM early_access_feature WHERE feature_flag_id = ANY ($1::int[])',
    [flagIds],
  );
  return new Set(rows.map(({ id }) => id));
}
