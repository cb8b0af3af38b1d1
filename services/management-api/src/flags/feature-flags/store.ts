import {
  effectiveLevel,
  environmentsOfCaller,
  type FoundEnvironment,
  foundEnvironmentColumns,
} from '@millrace/accounts/access';
import type { Columns, Sql, Transaction } from '@millrace/db';
import type { EmbeddedUserRow } from '../../identity/embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../../identity/embedded-users/embedded-user-store.ts';
import type { createConditions } from '../../sql/conditions.ts';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';

const variants = `CASE WHEN jsonb_typeof(f.filters #> '{multivariate,variants}') = 'array'
                       THEN f.filters #> '{multivariate,variants}' ELSE '[]' END`;

/** SQL condition for a condition set that matches everyone and gives everyone the same value. */
const isRolledOut = `f.filters = '{}' OR EXISTS (
    SELECT 1 FROM jsonb_array_elements(
                    CASE WHEN jsonb_typeof(f.filters -> 'groups') = 'array' THEN f.filters -> 'groups' ELSE '[]' END) AS g
     WHERE coalesce(g -> 'rollout_percentage', 'null') IN ('100', 'null')
       AND coalesce(g -> 'properties', '[]') IN ('[]', 'null')
       AND (${variants} = '[]' OR ${variants} @> '[{"rollout_percentage": 100}]' OR coalesce(g ->> 'variant', '') <> ''))`;

/**
 * SQL condition for flags `f` that are active but stale. A flag is stale if its last request was more than 30 days ago,
 * or if it was never requested and is on for everyone.
 */
export const isStale = `(f.active AND NOT f.deleted AND (
  f.last_called_at < now() - interval '30 days'
  OR (f.last_called_at IS NULL AND f.created_at < now() - interval '30 days' AND (${isRolledOut}))))`;

export const hasVariants = `(${variants} <> '[]')`;

export interface FlagFields
  extends Columns<
    'feature_flag',
    | 'key'
    | 'name'
    | 'active'
    | 'deleted'
    | 'archived'
    | 'ensure_experience_continuity'
    | 'bucketing_identifier'
    | 'evaluation_runtime'
    | 'evaluation_contexts'
    | 'tags'
    | 'is_remote_configuration'
    | 'has_encrypted_payloads'
    | 'has_enriched_analytics'
    | 'rollback_conditions'
    | 'performed_rollback'
  > {
  filters: Record<string, unknown>;
}

/** A stored flag. Its payloads can be encrypted, and its filters can have the old format. */
export interface FlagRow
  extends FlagFields,
    Columns<'feature_flag', 'id' | 'version' | 'created_at' | 'updated_at' | 'last_called_at'> {
  environment_id: number;
  /** The rollout percentage of old flags, whose filters have no condition sets. */
  rollout_percentage: number | null;
  created_by: EmbeddedUserRow | null;
  last_modified_by: EmbeddedUserRow | null;
  is_stale: boolean;
}

type StoredFlag = FlagRow & Record<string, unknown>;

const writable = [
  'key',
  'name',
  'filters',
  'active',
  'deleted',
  'archived',
  'ensure_experience_continuity',
  'bucketing_identifier',
  'evaluation_runtime',
  'evaluation_contexts',
  'tags',
  'is_remote_configuration',
  'has_encrypted_payloads',
  'has_enriched_analytics',
  'rollback_conditions',
  'performed_rollback',
] as const satisfies readonly (keyof FlagFields)[];
const jsonColumns = new Set<string>(['filters', 'rollback_conditions']);

const columns = `f.id, f.project_id AS environment_id, ${writable.map((name) => `f."${name}"`).join(', ')}, f.version,
  f.rollout_percentage, f.created_at, f.updated_at, f.last_called_at, ${isStale} AS is_stale,
  ${embeddedUserColumn('u')} AS created_by, ${embeddedUserColumn('m')} AS last_modified_by`;
const tables = `feature_flag f
  LEFT JOIN "user" u ON u.id = f.created_by_id
  LEFT JOIN "user" m ON m.id = f.last_modified_by_id`;

export async function findFlag(sql: Sql, environmentId: number, id: number): Promise<FlagRow | undefined> {
  const rows = await sql.query<StoredFlag>(`SELECT ${columns} FROM ${tables} WHERE f.project_id = $1 AND f.id = $2`, [
    environmentId,
    id,
  ]);
  return rows[0];
}

/** Finds flags by ID, even if they are deleted. */
export async function findFlags(sql: Sql, environmentId: number, ids: number[]): Promise<FlagRow[]> {
  return sql.query<StoredFlag>(
    `SELECT ${columns} FROM ${tables} WHERE f.project_id = $1 AND f.id = ANY ($2::int[]) ORDER BY f.id`,
    [environmentId, ids],
  );
}

/** Finds a flag by key. Ignores deleted flags, because their keys can be reused. */
export async function findFlagByKey(sql: Sql, environmentId: number, key: string): Promise<FlagRow | undefined> {
  const rows = await sql.query<StoredFlag>(
    `SELECT ${columns} FROM ${tables} WHERE f.project_id = $1 AND f.key = $2 AND NOT f.deleted`,
    [environmentId, key],
  );
  return rows[0];
}

export async function findFlagsByKey(sql: Sql, environmentIds: number[], key: string): Promise<FlagRow[]> {
  return sql.query<StoredFlag>(
    limitPageBytes(
      `SELECT ${columns} FROM ${tables} WHERE f.project_id = ANY ($1::int[]) AND f.key = $2 AND NOT f.deleted
        ORDER BY f.project_id`,
      ['filters'],
    ),
    [environmentIds, key],
  );
}

export type FlagConditions = ReturnType<typeof createConditions>;

/**
 * Returns a page of flags, and their total number.
 * @param order the sort order as SQL, which must not contain user input
 */
export async function listFlags(
  sql: Sql,
  where: FlagConditions,
  { order, limit, offset }: { order: string; limit: number; offset: number },
): Promise<{ count: number; rows: FlagRow[] }> {
  const counted = sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM feature_flag f WHERE ${where.text()}`,
    [...where.values],
  );
  const listed = sql.query<StoredFlag>(
    limitPageBytes(
      `SELECT ${columns} FROM ${tables} WHERE ${where.text()}
        ORDER BY ${order} LIMIT ${where.parameter(limit)} OFFSET ${where.parameter(offset)}`,
      ['filters', 'tags', 'rollback_conditions', 'created_by', 'last_modified_by'],
    ),
    where.values,
  );
  const [[total], rows] = await Promise.all([counted, listed]);
  return { count: total?.count ?? 0, rows };
}

export async function findInactiveFlags(sql: Sql, environmentId: number): Promise<{ id: number; key: string }[]> {
  return sql.query(
    'SELECT id, key FROM feature_flag WHERE project_id = $1 AND NOT deleted AND NOT active ORDER BY key',
    [environmentId],
  );
}

/** Returns the IDs of the flags that match a condition, oldest first. */
export async function listFlagIds(sql: Sql, where: FlagConditions, limit: number): Promise<number[]> {
  const rows = await sql.query<{ id: number }>(
    `SELECT f.id FROM feature_flag f WHERE ${where.text()} ORDER BY f.id LIMIT ${where.parameter(limit)}`,
    where.values,
  );
  return rows.map(({ id }) => id);
}

/** Returns flag keys by ID, including those of deleted flags. */
export async function findFlagKeys(sql: Sql, environmentId: number, ids: number[]): Promise<Map<number, string>> {
  const rows = await sql.query<{ id: number; key: string }>(
    'SELECT id, key FROM feature_flag WHERE project_id = $1 AND id = ANY ($2::int[]) ORDER BY id',
    [environmentId, ids],
  );
  return new Map(rows.map(({ id, key }) => [id, key]));
}

export async function insertFlag(
  tx: Transaction,
  { environmentId, userId }: { environmentId: number; userId: number },
  fields: FlagFields,
): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `INSERT INTO feature_flag (project_id, created_by_id, last_modified_by_id, ${names})
     VALUES ($1, $2, $2, ${writable.map((name, index) => placeholder(name, index + 3)).join(', ')}) RETURNING id`,
    [environmentId, userId, ...valuesOf(fields)],
  );
  const [row] = rows;
  if (!row) throw new Error('The inserted feature flag has no ID.');
  return row.id;
}

export async function updateFlag(tx: Transaction, { id, userId }: { id: number; userId: number }, fields: FlagFields) {
  await tx.query(
    `UPDATE feature_flag SET version = version + 1, updated_at = clock_timestamp(), last_modified_by_id = $2,
            ${writable.map((name, index) => `"${name}" = ${placeholder(name, index + 3)}`).join(', ')}
      WHERE id = $1`,
    [id, userId, ...valuesOf(fields)],
  );
}

export async function markFlagsDeleted(
  tx: Transaction,
  { ids, userId }: { ids: number[]; userId: number },
): Promise<void> {
  await tx.query(
    `UPDATE feature_flag SET deleted = true, version = version + 1, updated_at = clock_timestamp(), last_modified_by_id = $2
      WHERE id = ANY ($1::int[])`,
    [ids, userId],
  );
}

const names = writable.map((name) => `"${name}"`).join(', ');

function placeholder(name: string, position: number): string {
  return `$${position}${jsonColumns.has(name) ? '::jsonb' : ''}`;
}

function valuesOf(fields: FlagFields): unknown[] {
  return writable.map((name) => {
    const value = fields[name];
    return jsonColumns.has(name) && value !== null ? JSON.stringify(value) : value;
  });
}

interface FlagTotals {
  count: number;
  /** Total size of all filters as JSON, in bytes. */
  bytes: number;
  /** Approximate number of regular expressions in the filters. */
  patterns: number;
}

/** Counts the flags, bytes and patterns of an environment. Excludes deleted flags. */
export async function measureFlags(sql: Sql, environmentId: number): Promise<FlagTotals> {
  const rows = await sql.query<FlagTotals & Record<string, unknown>>(
    `SELECT count(*)::int AS count, coalesce(sum(octet_length(text)), 0)::float8 AS bytes,
            coalesce(sum((length(text) - length(replace(text, 'regex"', ''))) / 6), 0)::float8 AS patterns
       FROM (SELECT filters::text AS text FROM feature_flag WHERE project_id = $1 AND NOT deleted) AS flag`,
    [environmentId],
  );
  return rows[0] ?? { count: 0, bytes: 0, patterns: 0 };
}

/** Returns an organization's environments that the caller can access, oldest first. */
export async function findEnvironmentsOfOrganization(
  sql: Sql,
  { userId, organizationId }: { userId: number; organizationId: string },
): Promise<(FoundEnvironment & { level: number })[]> {
  return sql.query<FoundEnvironment & { level: number } & Record<string, unknown>>(
    `SELECT ${foundEnvironmentColumns} FROM ${environmentsOfCaller}
      WHERE p.organization_id = $2 AND (${effectiveLevel}) IS NOT NULL ORDER BY e.id`,
    [userId, organizationId],
  );
}

/** Returns the distinct ID with which a user's own events are sent, or null if the user was deleted. */
export async function findDistinctIdOfUser(sql: Sql, userId: number): Promise<string | null> {
  const rows = await sql.query<{ distinct_id: string }>('SELECT distinct_id FROM "user" WHERE id = $1', [userId]);
  return rows[0]?.distinct_id ?? null;
}
