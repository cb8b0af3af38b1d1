import type { Sql, Transaction } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import { upToPageBytes } from '../../sql/up-to-page-bytes.ts';
import { embeddedUserColumn } from '../embedded-users/embedded-user-store.ts';
import type { CohortFields, CohortRow } from './cohort-row.ts';

type Row = CohortRow & Record<string, unknown>;

/** Due, or being counted: a calculation that was begun and has no end. */
const isCalculating = `(coalesce(c.calculate_at <= now(), false) OR c.fill_from IS NOT NULL
  OR EXISTS (SELECT FROM cohort_calculation k WHERE k.cohort_id = c.id AND k.finished_at IS NULL))`;

const columns = `c.id, c.name, c.description, c.groups, c.deleted, c.filters, c.query, c.is_static, c.cohort_type,
  ${isCalculating} AS is_calculating, ${embeddedUserColumn('u')} AS created_by, c.created_at, c.last_calculation,
  c.errors_calculating, c.count`;

export interface CohortFilter {
  type?: string;
  created_by_id?: number;
  search?: string;
  hide_behavioral_cohorts?: boolean;
}

/** One page of an environment's cohorts, the newest first, without deleted ones, and how many there are. */
export async function listCohorts(
  sql: Sql,
  environmentId: number,
  { filter, limit, offset }: { filter: CohortFilter; limit: number; offset: number },
): Promise<{ count: number; rows: CohortRow[] }> {
  const where = createConditions();
  where.add(`c.project_id = ${where.parameter(environmentId)}`);
  where.add('NOT c.deleted');
  if (filter.type === 'static') where.add('c.is_static');
  if (filter.type === 'dynamic') where.add('NOT c.is_static');
  if (filter.created_by_id !== undefined) where.add(`c.created_by_id = ${where.parameter(filter.created_by_id)}`);
  if (filter.search) where.add(`strpos(lower(c.name), lower(${where.parameter(filter.search)}::text)) > 0`);
  if (filter.hide_behavioral_cohorts) where.add(`c.cohort_type IS DISTINCT FROM 'behavioral'`);
  const conditions = where.text();
  const counted = sql.query<{ count: number }>(`SELECT count(*)::int AS count FROM cohort c WHERE ${conditions}`, [
    ...where.values,
  ]);
  const listed = sql.query<Row>(
    upToPageBytes(
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

/** One cohort, also a deleted one. */
export async function findCohort(sql: Sql, environmentId: number, id: number): Promise<CohortRow | undefined> {
  const rows = await sql.query<Row>(
    `SELECT ${columns} FROM cohort c LEFT JOIN "user" u ON u.id = c.created_by_id
      WHERE c.project_id = $1 AND c.id = $2`,
    [environmentId, id],
  );
  return rows[0];
}

/**
 * Waits for everybody else who changes what the flags and cohorts of an environment are made of: two changes that each are
 * right alone, and together make a loop, do not both pass.
 */
export async function lockCohortsOf(tx: Transaction, environmentId: number): Promise<void> {
  await tx.query('SELECT 1 FROM environment WHERE id = $1 FOR NO KEY UPDATE', [environmentId]);
}

const writable = ['name', 'description', 'groups', 'deleted', 'filters', 'query', 'is_static'] as const;
const asJson = new Set<string>(['groups', 'filters', 'query']);

function valuesOf(fields: CohortFields): unknown[] {
  return writable.map((name) => {
    const value = fields[name];
    return asJson.has(name) && value !== null ? JSON.stringify(value) : value;
  });
}

/** Who a static cohort is filled with, in the background: the members of a cohort, or those who have a flag. */
export type CohortSource = { cohort: number } | { flag: number };

/** A new cohort is due to be counted; a static one whose members come with it is counted as they come. @returns the id. */
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
  if (!row) throw new Error('A cohort was inserted without an id.');
  return row.id;
}

/** @param isRecounted whether who belongs to it may be others now. */
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

/** Says how many members a static cohort has, as of now. */
export async function setMemberCount(tx: Transaction, id: number, count: number): Promise<void> {
  await tx.query('UPDATE cohort SET count = $2, last_calculation = now(), errors_calculating = 0 WHERE id = $1', [
    id,
    count,
  ]);
}
