// SQL that reads and writes cohorts.

import type { Columns, Sql, Transaction } from '@millrace/db';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { addVisibilityCondition } from '../../access/record-rights.ts';
import type { EmbeddedUserRow } from '../../identity/embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../../identity/embedded-users/embedded-user-store.ts';
import { type Conditions, createConditions } from '../../sql/conditions.ts';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';
import type { CohortFilters } from './filters.ts';

export interface CohortFields extends Columns<'cohort', 'name' | 'description' | 'deleted' | 'is_static'> {
  groups: unknown[];
  filters: CohortFilters | null;
  query: Record<string, unknown> | null;
}

export interface CohortRow
  extends CohortFields,
    Columns<'cohort', 'id' | 'cohort_type' | 'created_at' | 'last_calculation' | 'errors_calculating' | 'count'> {
  is_calculating: boolean;
  created_by: EmbeddedUserRow | null;
}

type Row = CohortRow & Record<string, unknown>;

/** SQL condition that is true if a calculation is due, or has started but not finished. */
const isCalculating = `(coalesce(c.calculate_at <= now(), false) OR c.fill_from IS NOT NULL
  OR EXISTS (SELECT FROM cohort_calculation k WHERE k.cohort_id = c.id AND k.finished_at IS NULL))`;

const columns = `c.id, c.name, c.description, c.groups, c.deleted, c.filters, c.query, c.is_static, c.cohort_type,
  ${isCalculating} AS is_calculating, ${embeddedUserColumn('u')} AS created_by, c.created_at, c.last_calculation,
  c.errors_calculating, c.count`;

export interface CohortFilter {
  type?: string;
  created_by_id?: number;
  search?: string;
  ids?: number[];
}

/** SQL that selects the cohorts of an environment that the caller can see. Omits deleted cohorts. */
function shownIn({ environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>): Conditions {
  const where = createConditions();
  addVisibilityCondition(where, rights, 'cohort', { id: 'c.id', createdById: 'c.created_by_id' });
  where.add(`c.project_id = ${where.parameter(environmentId)}`);
  where.add('NOT c.deleted');
  return where;
}

export async function listCohortIds(
  sql: Sql,
  place: Pick<AddressedProject, 'environmentId' | 'rights'>,
): Promise<number[]> {
  const where = shownIn(place);
  const rows = await sql.query<{ id: number }>(`SELECT c.id FROM cohort c WHERE ${where.text()}`, where.values);
  return rows.map(({ id }) => id);
}

/**
 * Returns a page of the cohorts that the caller can see, newest first, and their total number. Omits deleted cohorts.
 */
export async function listCohorts(
  sql: Sql,
  place: Pick<AddressedProject, 'environmentId' | 'rights'>,
  { filter, limit, offset }: { filter: CohortFilter; limit: number; offset: number },
): Promise<{ count: number; rows: CohortRow[] }> {
  const where = shownIn(place);
  if (filter.ids) where.add(`c.id = ANY (${where.parameter(filter.ids)}::int[])`);
  if (filter.type === 'static') where.add('c.is_static');
  if (filter.type === 'dynamic') where.add('NOT c.is_static');
  if (filter.created_by_id !== undefined) where.add(`c.created_by_id = ${where.parameter(filter.created_by_id)}`);
  if (filter.search) where.add(`strpos(lower(c.name), lower(${where.parameter(filter.search)}::text)) > 0`);
  const conditions = where.text();
  const counted = sql.query<{ count: number }>(`SELECT count(*)::int AS count FROM cohort c WHERE ${conditions}`, [
    ...where.values,
  ]);
  const listed = sql.query<Row>(
    limitPageBytes(
      `SELECT ${columns} FROM cohort c LEFT JOIN "user" u ON u.id = c.created_by_id
        WHERE ${conditions} ORDER BY c.created_at DESC, c.id DESC
        LIMIT ${where.parameter(limit)} OFFSET ${where.parameter(offset)}`,
      ['groups', 'filters', 'query', 'created_by'],
    ),
    where.values,
  );
  const [[total], rows] = await Promise.all([counted, listed]);
  return { count: total?.count ?? 0, rows };
}

/** Finds a cohort, even if it is deleted. */
export async function findCohort(sql: Sql, environmentId: number, id: number): Promise<CohortRow | undefined> {
  const rows = await sql.query<Row>(
    `SELECT ${columns} FROM cohort c LEFT JOIN "user" u ON u.id = c.created_by_id
      WHERE c.project_id = $1 AND c.id = $2`,
    [environmentId, id],
  );
  return rows[0];
}

const writable = ['name', 'description', 'groups', 'deleted', 'filters', 'query', 'is_static'] as const;
const asJson = new Set<string>(['groups', 'filters', 'query']);

function valuesOf(fields: CohortFields): unknown[] {
  return writable.map((name) => {
    const value = fields[name];
    return asJson.has(name) && value !== null ? JSON.stringify(value) : value;
  });
}

/**
 * The source that fills a static cohort in the background: the members of another cohort, or the persons who match a
 * feature flag.
 */
export type CohortSource = { cohort: number } | { flag: number };

/**
 * Inserts a cohort that is due for calculation. A static cohort that gets its members from requests is counted whenever
 * members are added, so its first calculation is due a day later.
 * @returns the ID of the cohort
 */
export async function insertCohort(
  tx: Transaction,
  { environmentId, userId }: { environmentId: number; userId: number },
  {
    fields,
    cohortType,
    fillFrom = null,
  }: { fields: CohortFields; cohortType: string | null; fillFrom?: CohortSource | null },
): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `INSERT INTO cohort (project_id, created_by_id, cohort_type, fill_from, calculate_at,
                         ${writable.map((name) => `"${name}"`).join(', ')})
     VALUES ($1, $2, $3, $4, date_trunc('milliseconds', now()) + make_interval(days => CASE WHEN $5::boolean THEN 1 ELSE 0 END), ${writable.map((_, index) => `$${index + 6}`).join(', ')})
     RETURNING id`,
    [
      environmentId,
      userId,
      cohortType,
      fillFrom && JSON.stringify(fillFrom),
      fields.is_static && fillFrom === null,
      ...valuesOf(fields),
    ],
  );
  const [row] = rows;
  if (!row) throw new Error('The inserted cohort has no ID.');
  return row.id;
}

/** @param isRecounted whether the change can affect which persons belong to the cohort */
export async function updateCohort(
  tx: Transaction,
  id: number,
  { fields, cohortType, isRecounted }: { fields: CohortFields; cohortType: string | null; isRecounted: boolean },
): Promise<void> {
  await tx.query(
    `UPDATE cohort SET version = version + 1, cohort_type = $2,
            calculate_at = CASE WHEN $4 THEN NULL WHEN $3 THEN date_trunc('milliseconds', now()) ELSE calculate_at END,
            ${writable.map((name, index) => `"${name}" = $${index + 5}`).join(', ')}
      WHERE id = $1`,
    [id, cohortType, isRecounted, fields.deleted, ...valuesOf(fields)],
  );
}

export async function saveCohortCount(tx: Transaction, id: number, count: number): Promise<void> {
  await tx.query('UPDATE cohort SET count = $2, last_calculation = now(), errors_calculating = 0 WHERE id = $1', [
    id,
    count,
  ]);
}

/** SQL that selects the IDs of all cohorts that a filter tree references, at any depth. */
const namedIn = (filters: string) =>
  `SELECT (leaf.value #>> '{}')::int AS id
     FROM jsonb_path_query(${filters}, 'strict $.** ? (@.type() == "object" && @.type == "cohort" && exists(@.value)).value')
       AS leaf (value)
    WHERE (leaf.value #>> '{}') ~ '^[1-9][0-9]{0,8}$'`;

/**
 * Finds the given cohorts and all cohorts that they reference, directly or indirectly. Returns each existing cohort
 * once, even if the references form a loop. Does not follow references of static cohorts, because a static cohort is a
 * fixed list.
 */
export async function findReferencedCohorts(sql: Sql, environmentId: number, ids: number[]): Promise<{ id: number }[]> {
  return sql.query<{ id: number }>(
    `WITH RECURSIVE reached (id) AS (
       SELECT unnest($2::int[])
        UNION
       SELECT named.id
         FROM reached JOIN cohort c ON c.id = reached.id AND c.project_id = $1 AND NOT c.deleted AND NOT c.is_static
        CROSS JOIN LATERAL (${namedIn('c.filters')}) AS named)
     SELECT c.id
       FROM cohort c JOIN reached USING (id) WHERE c.project_id = $1 AND NOT c.deleted ORDER BY c.id`,
    [environmentId, ids],
  );
}

/** Returns the keys of active feature flags that use a cohort, directly or through other cohorts. */
export async function findFlagsUsingCohort(sql: Sql, environmentId: number, cohortId: number): Promise<string[]> {
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

type CalculationRow = Columns<'cohort_calculation', 'id' | 'started_at' | 'finished_at' | 'count' | 'error'>;

/** Returns a page of a cohort's calculations, latest first, and the total count. */
export async function listCalculations(
  sql: Sql,
  cohortId: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: CalculationRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>('SELECT count(*)::int AS count FROM cohort_calculation WHERE cohort_id = $1', [
      cohortId,
    ]),
    sql.query<CalculationRow & Record<string, unknown>>(
      `SELECT id, started_at, finished_at, count, error FROM cohort_calculation
        WHERE cohort_id = $1 ORDER BY started_at DESC, id DESC LIMIT $2 OFFSET $3`,
      [cohortId, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}
