// SQL that reads and writes dashboards.

import type { Columns, Sql, Transaction } from '@millrace/db';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Restricted } from '../../access/dashboard-restriction.ts';
import { addVisibilityCondition } from '../../access/record-rights.ts';
import type { EmbeddedUserRow } from '../../identity/embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../../identity/embedded-users/embedded-user-store.ts';
import { createConditions } from '../../sql/conditions.ts';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';
import { parseTexts } from '../../sql/listed-values.ts';

/** The dashboard fields that clients can set, except tiles. */
export interface DashboardFields
  extends Columns<
    'dashboard',
    | 'name'
    | 'description'
    | 'pinned'
    | 'deleted'
    | 'creation_mode'
    | 'tags'
    | 'breakdown_colors'
    | 'data_color_theme_id'
    | 'quick_filter_ids'
  > {
  filters: Record<string, unknown>;
  variables: Record<string, unknown> | null;
  restriction_level: 21 | 37;
}

export interface DashboardRow
  extends DashboardFields,
    Columns<'dashboard', 'id' | 'created_at' | 'last_accessed_at'>,
    Restricted {
  restriction_level: 21 | 37;
  created_by: EmbeddedUserRow | null;
  is_shared: boolean;
}
type Row = DashboardRow & Record<string, unknown>;

const columns = `d.id, d.name, d.description, d.pinned, d.deleted, d.creation_mode, d.filters, d.variables, d.tags,
  d.restriction_level, d.breakdown_colors, d.data_color_theme_id, d.quick_filter_ids, d.created_at, d.last_accessed_at,
  d.created_by_id AS owner_id,
  EXISTS (SELECT FROM sharing_configuration s WHERE s.dashboard_id = d.id AND s.enabled) AS is_shared, ${embeddedUserColumn('u')} AS created_by`;
const tables = 'dashboard d LEFT JOIN "user" u ON u.id = d.created_by_id';

export interface DashboardFilter {
  search?: string;
  pinned?: boolean;
  tags?: string;
  creation_mode?: string;
  order?: string;
}

/**
 * Returns a page of an environment's dashboards, and their total number. By default, pinned dashboards come first, and
 * the others are sorted by name. Omits deleted dashboards.
 */
export async function listDashboards(
  sql: Sql,
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  { filter, limit, offset }: { filter: DashboardFilter; limit: number; offset: number },
): Promise<{ count: number; rows: DashboardRow[] }> {
  const where = createConditions();
  addVisibilityCondition(where, rights, 'dashboard', { id: 'd.id', createdById: 'd.created_by_id' });
  where.add(`d.project_id = ${where.parameter(environmentId)}`);
  where.add('NOT d.deleted');
  if (filter.search) {
    const texts = 'concat_ws(chr(10), d.name, d.description)';
    where.add(`strpos(lower(${texts}), lower(${where.parameter(filter.search)}::text)) > 0`);
  }
  if (filter.pinned !== undefined) where.add(`d.pinned = ${where.parameter(filter.pinned)}::boolean`);
  const tags = parseTexts(filter.tags);
  if (tags.length > 0) where.add(`d.tags && ${where.parameter(tags)}::text[]`);
  if (filter.creation_mode) where.add(`d.creation_mode = ${where.parameter(filter.creation_mode)}`);
  const conditions = where.text();
  const counted = sql.query<{ count: number }>(`SELECT count(*)::int AS count FROM dashboard d WHERE ${conditions}`, [
    ...where.values,
  ]);
  const listed = sql.query<Row>(
    limitPageBytes(
      `SELECT ${columns} FROM ${tables} WHERE ${conditions} ORDER BY ${orderOf(filter.order)}
        LIMIT ${where.parameter(limit)} OFFSET ${where.parameter(offset)}`,
      ['description', 'filters', 'variables', 'tags', 'breakdown_colors', 'quick_filter_ids', 'created_by'],
    ),
    where.values,
  );
  const [[total], rows] = await Promise.all([counted, listed]);
  return { count: total?.count ?? 0, rows };
}

const orderColumns: Record<string, string> = {
  name: 'lower(d.name)',
  created_at: 'd.created_at',
  created_by: 'lower(u.first_name)',
  last_accessed_at: 'd.last_accessed_at',
  pinned: 'd.pinned',
};

/** Allowed values of `order`: each field, optionally with a leading `-` for descending order. */
export const dashboardOrders = Object.keys(orderColumns).flatMap((name) => [name, `-${name}`]);

/** @param order a value in `dashboardOrders` */
function orderOf(order: string | undefined): string {
  const column = orderColumns[order?.replace(/^-/, '') ?? ''];
  if (column === undefined) return 'd.pinned DESC, d.name, d.id';
  return order?.startsWith('-') ? `${column} DESC NULLS LAST, d.id DESC` : `${column} ASC NULLS FIRST, d.id ASC`;
}

/** Finds a dashboard, even if it is deleted. */
export async function findDashboard(sql: Sql, environmentId: number, id: number): Promise<DashboardRow | undefined> {
  const rows = await sql.query<Row>(`SELECT ${columns} FROM ${tables} WHERE d.project_id = $1 AND d.id = $2`, [
    environmentId,
    id,
  ]);
  return rows[0];
}

const writable = [
  'name',
  'description',
  'pinned',
  'deleted',
  'creation_mode',
  'filters',
  'variables',
  'tags',
  'restriction_level',
  'breakdown_colors',
  'data_color_theme_id',
  'quick_filter_ids',
] as const satisfies readonly (keyof DashboardFields)[];
const asJson = new Set<string>(['filters', 'variables', 'breakdown_colors', 'quick_filter_ids']);

function valuesOf(fields: DashboardFields): unknown[] {
  return writable.map((name) => {
    const value = fields[name];
    return asJson.has(name) && value !== null ? JSON.stringify(value) : value;
  });
}

export async function insertDashboard(
  tx: Transaction,
  { environmentId, userId }: { environmentId: number; userId: number },
  fields: DashboardFields,
): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `INSERT INTO dashboard (project_id, created_by_id, ${writable.map((name) => `"${name}"`).join(', ')})
     VALUES ($1, $2, ${writable.map((_, index) => `$${index + 3}`).join(', ')}) RETURNING id`,
    [environmentId, userId, ...valuesOf(fields)],
  );
  const [row] = rows;
  if (!row) throw new Error('The inserted dashboard has no ID.');
  return row.id;
}

export async function updateDashboard(tx: Transaction, id: number, fields: DashboardFields): Promise<void> {
  await tx.query(
    `UPDATE dashboard SET ${writable.map((name, index) => `"${name}" = $${index + 2}`).join(', ')} WHERE id = $1`,
    [id, ...valuesOf(fields)],
  );
}

/**
 * Stores when the dashboard was last opened. Writes at most once a minute, so that frequent reads do not cause frequent
 * writes.
 * @returns the stored time, or undefined if nothing was written
 */
export async function recordDashboardAccess(sql: Sql, id: number): Promise<Date | undefined> {
  const rows = await sql.query<{ last_accessed_at: Date }>(
    `UPDATE dashboard SET last_accessed_at = now()
      WHERE id = $1 AND (last_accessed_at IS NULL OR last_accessed_at < now() - interval '1 minute')
      RETURNING last_accessed_at`,
    [id],
  );
  return rows[0]?.last_accessed_at;
}

/**
 * If the dashboard is its project's primary dashboard, clears that setting.
 * @returns whether it was the primary dashboard
 */
export async function unsetPrimaryDashboard(tx: Transaction, environmentId: number, id: number): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE environment SET primary_dashboard = NULL, updated_at = now()
      WHERE id = $1 AND primary_dashboard = $2 RETURNING id`,
    [environmentId, id],
  );
  return rows.length > 0;
}
