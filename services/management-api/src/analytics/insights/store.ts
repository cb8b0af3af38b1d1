// SQL that reads and writes insights, and the times at which users opened them.

import { randomInt } from 'node:crypto';
import { parseRecordId } from '@millrace/contracts';
import type { Columns, Sql, Transaction } from '@millrace/db';
import type { EmbeddedUserRow } from '../../identity/embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../../identity/embedded-users/embedded-user-store.ts';
import type { Conditions } from '../../sql/conditions.ts';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';

/** The insight fields that clients can set, except dashboards. */
export interface InsightFields
  extends Columns<
    'insight',
    'name' | 'derived_name' | 'description' | 'order' | 'deleted' | 'tags' | 'favorited' | 'saved'
  > {
  query: Record<string, unknown> | null;
}

/** An insight's tile on a dashboard, with the dashboard's restriction level and owner. */
export interface TileOfInsight {
  id: number;
  dashboard_id: number;
  restriction_level: number;
  owner_id: number | null;
}

export interface InsightRow
  extends InsightFields,
    Columns<'insight', 'id' | 'short_id' | 'created_at' | 'updated_at' | 'last_modified_at'> {
  created_by: EmbeddedUserRow | null;
  last_modified_by: EmbeddedUserRow | null;
  last_viewed_at: Date | null;
  /** The insight's tiles on dashboards that are not deleted, sorted by ID. */
  tiles: TileOfInsight[];
}
type Row = InsightRow & Record<string, unknown>;

/** SQL expression for the time at which any user last opened insight `i`. */
export const lastViewedAt = '(SELECT max(v.last_viewed_at) FROM insight_view v WHERE v.insight_id = i.id)';

/** SQL expression for the query kind of insight `i`, ignoring the wrapper. */
export const kindOfQuery = `coalesce(i.query #>> '{source,kind}', i.query ->> 'kind')`;

const listShownTiles = `dashboard_tile t JOIN dashboard d ON d.id = t.dashboard_id
   WHERE t.insight_id = i.id AND NOT t.deleted AND NOT d.deleted`;

export const isOnDashboard = `EXISTS (SELECT FROM ${listShownTiles})`;

const columns = `i.id, i.short_id, i.name, i.derived_name, i.description, i.query, i."order", i.deleted, i.tags, i.favorited,
  i.saved, i.created_at, i.updated_at, i.last_modified_at,
  ${embeddedUserColumn('u')} AS created_by, ${embeddedUserColumn('m')} AS last_modified_by,
  ${lastViewedAt} AS last_viewed_at,
  (SELECT coalesce(json_agg(json_build_object('id', t.id, 'dashboard_id', t.dashboard_id,
                                              'restriction_level', d.restriction_level, 'owner_id', d.created_by_id)
                            ORDER BY t.id), '[]')
     FROM ${listShownTiles}) AS tiles`;
const tables = `insight i
  LEFT JOIN "user" u ON u.id = i.created_by_id
  LEFT JOIN "user" m ON m.id = i.last_modified_by_id`;

/**
 * Returns a page of insights and their total number.
 * @param order the sort order as SQL, which must not contain user input
 */
export async function listInsights(
  sql: Sql,
  where: Conditions,
  { order, limit, offset }: { order: string; limit: number; offset: number },
): Promise<{ count: number; rows: InsightRow[] }> {
  const conditions = where.text();
  const counted = sql.query<{ count: number }>(`SELECT count(*)::int AS count FROM insight i WHERE ${conditions}`, [
    ...where.values,
  ]);
  const listed = sql.query<Row>(
    limitPageBytes(
      `SELECT ${columns} FROM ${tables} WHERE ${conditions}
        ORDER BY ${order} LIMIT ${where.parameter(limit)} OFFSET ${where.parameter(offset)}`,
      ['query', 'tags', 'tiles', 'created_by', 'last_modified_by'],
    ),
    where.values,
  );
  const [[total], rows] = await Promise.all([counted, listed]);
  return { count: total?.count ?? 0, rows };
}

/** Finds insights by numeric ID, even if they are deleted. */
export async function findInsights(sql: Sql, environmentId: number, ids: readonly number[]): Promise<InsightRow[]> {
  if (ids.length === 0) return [];
  return sql.query<Row>(`SELECT ${columns} FROM ${tables} WHERE i.project_id = $1 AND i.id = ANY ($2::int[])`, [
    environmentId,
    ids,
  ]);
}

/**
 * Finds an insight, even if it is deleted.
 * @param idOrShortId the numeric ID, or the short ID if no insight has this numeric ID
 */
export async function findInsight(
  sql: Sql,
  environmentId: number,
  idOrShortId: string,
): Promise<InsightRow | undefined> {
  const rows = await sql.query<Row>(
    `SELECT ${columns} FROM ${tables} WHERE i.project_id = $1 AND (i.id = $2::int OR i.short_id = $3)
      ORDER BY i.id = $2::int DESC LIMIT 1`,
    [environmentId, parseRecordId(idOrShortId) ?? 0, idOrShortId],
  );
  return rows[0];
}

const writable = [
  'name',
  'derived_name',
  'description',
  'query',
  'order',
  'deleted',
  'tags',
  'favorited',
  'saved',
] as const satisfies readonly (keyof InsightFields)[];

function valuesOf(fields: InsightFields): unknown[] {
  return writable.map((name) => (name === 'query' ? fields.query && JSON.stringify(fields.query) : fields[name]));
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export async function insertInsight(
  tx: Transaction,
  { environmentId, userId }: { environmentId: number; userId: number },
  fields: InsightFields,
): Promise<number> {
  const shortId = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('');
  const rows = await tx.query<{ id: number }>(
    `INSERT INTO insight (project_id, short_id, created_by_id, last_modified_by_id,
                          ${writable.map((name) => `"${name}"`).join(', ')})
     VALUES ($1, $2, $3, $3, ${writable.map((_, index) => `$${index + 4}`).join(', ')}) RETURNING id`,
    [environmentId, shortId, userId, ...valuesOf(fields)],
  );
  const [row] = rows;
  if (!row) throw new Error('The inserted insight has no ID.');
  return row.id;
}

/** Updates an insight. @param isModified whether the query, name or description changed */
export async function updateInsight(
  tx: Transaction,
  { id, userId, isModified }: { id: number; userId: number; isModified: boolean },
  fields: InsightFields,
): Promise<void> {
  await tx.query(
    `UPDATE insight SET updated_at = now(),
            last_modified_at = CASE WHEN $3::boolean THEN now() ELSE last_modified_at END,
            last_modified_by_id = CASE WHEN $3::boolean THEN $2::int ELSE last_modified_by_id END,
            ${writable.map((name, index) => `"${name}" = $${index + 4}`).join(', ')}
      WHERE id = $1`,
    [id, userId, isModified, ...valuesOf(fields)],
  );
}

/** Records that a user has just opened insights. Ignores IDs that do not exist. */
export async function recordInsightViews(
  sql: Sql,
  { environmentId, userId }: { environmentId: number; userId: number },
  ids: readonly number[],
): Promise<void> {
  await sql.query(
    `INSERT INTO insight_view (insight_id, user_id, last_viewed_at)
     SELECT i.id, $2, now() FROM insight i
      WHERE i.project_id = $1 AND i.id = ANY ($3::int[]) AND NOT i.deleted ORDER BY i.id
     ON CONFLICT (insight_id, user_id) DO UPDATE SET last_viewed_at = EXCLUDED.last_viewed_at`,
    [environmentId, userId, ids],
  );
}

export async function listLastViewedInsights(
  sql: Sql,
  { environmentId, userId }: { environmentId: number; userId: number },
  limit: number,
): Promise<InsightRow[]> {
  return sql.query<Row>(
    `SELECT ${columns} FROM insight_view seen JOIN ${tables} ON i.id = seen.insight_id
      WHERE seen.user_id = $2 AND i.project_id = $1 AND NOT i.deleted
      ORDER BY seen.last_viewed_at DESC, i.id LIMIT $3`,
    [environmentId, userId, limit],
  );
}

/** An insight with the users who opened it recently, most recent first. */
export interface TrendingRow extends InsightRow {
  viewers: EmbeddedUserRow[];
}

/**
 * Returns the insights that the most users opened after a given time, sorted by the number of users.
 * @param viewers the maximum number of users to return for each insight
 */
export async function listTrending(
  sql: Sql,
  where: Conditions,
  { since, limit, viewers }: { since: Date; limit: number; viewers: number },
): Promise<TrendingRow[]> {
  const views = `insight_view v WHERE v.insight_id = i.id AND v.last_viewed_at >= ${where.parameter(since)}`;
  where.add(`EXISTS (SELECT FROM ${views})`);
  return sql.query<TrendingRow & Record<string, unknown>>(
    `SELECT ${columns},
            (SELECT json_agg(${embeddedUserColumn('w')} ORDER BY latest.last_viewed_at DESC)
               FROM (SELECT v.user_id, v.last_viewed_at FROM ${views}
                      ORDER BY v.last_viewed_at DESC LIMIT ${where.parameter(viewers)}) AS latest
               JOIN "user" w ON w.id = latest.user_id) AS viewers
       FROM ${tables} WHERE ${where.text()}
      ORDER BY (SELECT count(*) FROM ${views}) DESC, ${lastViewedAt} DESC, i.id LIMIT ${where.parameter(limit)}`,
    where.values,
  );
}

export interface TileOverrides {
  /** The tile's filters or, if the tile has none, its dashboard's filters. */
  filters: Record<string, unknown>;
  variables: Record<string, unknown> | null;
}

export async function readTileOverrides(sql: Sql, tileId: number): Promise<TileOverrides> {
  const [row] = await sql.query<TileOverrides & Record<string, unknown>>(
    `SELECT coalesce(nullif(t.filters_overrides::jsonb, '{}'), d.filters::jsonb, '{}') AS filters, d.variables
       FROM dashboard_tile t JOIN dashboard d ON d.id = t.dashboard_id WHERE t.id = $1`,
    [tileId],
  );
  return row ?? { filters: {}, variables: null };
}
