// SQL that reads and writes dashboard tiles.

import type { Columns, Sql, Transaction } from '@millrace/db';
import type { EmbeddedUserRow } from '../../identity/embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../../identity/embedded-users/embedded-user-store.ts';

/** The tile fields that clients can set. A tile has either an insight or a text (`body`). */
export interface TileFields
  extends Columns<
    'dashboard_tile',
    'insight_id' | 'body' | 'deleted' | 'color' | 'show_description' | 'transparent_background'
  > {
  layouts: Record<string, unknown>;
  filters_overrides: Record<string, unknown> | null;
}

export interface TileRow extends TileFields, Columns<'dashboard_tile', 'id' | 'last_modified_at'> {
  created_by: EmbeddedUserRow | null;
  last_modified_by: EmbeddedUserRow | null;
}

/** Returns a dashboard's tiles, sorted by ID. Includes deleted tiles, but excludes tiles whose insight is deleted. */
export async function listTiles(sql: Sql, dashboardId: number): Promise<TileRow[]> {
  return sql.query<TileRow & Record<string, unknown>>(
    `SELECT t.id, t.insight_id, t.body, t.deleted, t.layouts, t.color, t.filters_overrides, t.show_description,
            t.transparent_background, t.last_modified_at,
            ${embeddedUserColumn('u')} AS created_by, ${embeddedUserColumn('m')} AS last_modified_by
       FROM dashboard_tile t
       LEFT JOIN insight i ON i.id = t.insight_id
       LEFT JOIN "user" u ON u.id = t.created_by_id
       LEFT JOIN "user" m ON m.id = t.last_modified_by_id
      WHERE t.dashboard_id = $1 AND i.deleted IS NOT TRUE ORDER BY t.id`,
    [dashboardId],
  );
}

function valuesOf(tile: TileFields): unknown[] {
  const { body, deleted, layouts, color, filters_overrides: filters, show_description, transparent_background } = tile;
  return [
    body,
    deleted,
    JSON.stringify(layouts),
    color,
    filters && JSON.stringify(filters),
    show_description,
    transparent_background,
  ];
}

/** @param userId the author of the text, or null for an insight */
export async function insertTile(
  tx: Transaction,
  { dashboardId, userId }: { dashboardId: number; userId: number | null },
  tile: TileFields,
): Promise<void> {
  await tx.query(
    `INSERT INTO dashboard_tile (dashboard_id, insight_id, created_by_id, last_modified_by_id, last_modified_at,
                                 body, deleted, layouts, color, filters_overrides, show_description, transparent_background)
     VALUES ($1, $2, $3, $3, CASE WHEN $3::int IS NULL THEN NULL ELSE now() END, $4, $5, $6, $7, $8, $9, $10)`,
    [dashboardId, tile.insight_id, userId, ...valuesOf(tile)],
  );
}

/** @param userId the user who changed the text, or null if the text stays the same */
export async function updateTile(
  tx: Transaction,
  { id, userId }: { id: number; userId: number | null },
  tile: TileFields,
): Promise<void> {
  await tx.query(
    `UPDATE dashboard_tile
        SET body = $3, deleted = $4, layouts = $5, color = $6, filters_overrides = $7, show_description = $8,
            transparent_background = $9, last_modified_by_id = coalesce($2::int, last_modified_by_id),
            last_modified_at = CASE WHEN $2::int IS NULL THEN last_modified_at ELSE now() END
      WHERE id = $1`,
    [id, userId, ...valuesOf(tile)],
  );
}

/** Moves a tile to a dashboard. Replaces a deleted tile with the same insight. */
export async function updateTileDashboard(
  tx: Transaction,
  { id, insight_id }: TileRow,
  dashboardId: number,
): Promise<void> {
  await tx.query('DELETE FROM dashboard_tile WHERE dashboard_id = $1 AND insight_id = $2 AND deleted', [
    dashboardId,
    insight_id,
  ]);
  await tx.query('UPDATE dashboard_tile SET dashboard_id = $2 WHERE id = $1', [id, dashboardId]);
}

interface NamedInsight {
  id: number;
  name: string | null;
}

/** Deletes the insights that are on no other dashboard. Keeps their tiles, so that the insights can be restored. */
export async function deleteInsightsOnlyOnDashboard(tx: Transaction, dashboardId: number): Promise<NamedInsight[]> {
  return tx.query<NamedInsight & Record<string, unknown>>(
    `UPDATE insight i SET deleted = true, updated_at = now()
       FROM dashboard_tile t
      WHERE t.dashboard_id = $1 AND t.insight_id = i.id AND NOT t.deleted AND NOT i.deleted
        AND NOT EXISTS (SELECT FROM dashboard_tile o JOIN dashboard d ON d.id = o.dashboard_id
                         WHERE o.insight_id = i.id AND o.dashboard_id <> $1 AND NOT o.deleted AND NOT d.deleted)
      RETURNING i.id, coalesce(i.name, i.derived_name) AS name`,
    [dashboardId],
  );
}

/**
 * Restores the insights that were deleted together with a dashboard. They still have their tiles, unlike an insight
 * that was deleted separately.
 */
export async function restoreDashboardInsights(tx: Transaction, dashboardId: number): Promise<NamedInsight[]> {
  return tx.query<NamedInsight & Record<string, unknown>>(
    `UPDATE insight i SET deleted = false, updated_at = now()
       FROM dashboard_tile t
      WHERE t.dashboard_id = $1 AND t.insight_id = i.id AND NOT t.deleted AND i.deleted
      RETURNING i.id, coalesce(i.name, i.derived_name) AS name`,
    [dashboardId],
  );
}
