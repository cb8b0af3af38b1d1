// Converts stored dashboards to API responses. The results of insights are included on request.

import type { Sql } from '@millrace/db';
import { formatDateTime } from '@millrace/http';
import { buildTileQuery, mergeVariables, sortByLayout } from '@millrace/insights';
import {
  canChangeDashboard,
  describeRights,
  type Editor,
  restrictionLevels,
} from '../../access/dashboard-restriction.ts';
import { hasRecordLevel, toRecordName } from '../../access/record-rights.ts';
import { type InsightResult, noResult } from '../insights/result.ts';
import { toInsight } from '../insights/show.ts';
import { findInsights, type InsightRow } from '../insights/store.ts';
import type { DashboardRow } from './store.ts';
import { listTiles, type TileRow } from './tile-store.ts';

export interface Viewer extends Editor {
  environmentId: number;
}

export function toBasicDashboard(row: DashboardRow, viewer: Viewer) {
  const lastAccessedAt = row.last_accessed_at && formatDateTime(row.last_accessed_at);
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    pinned: row.pinned,
    created_at: formatDateTime(row.created_at),
    created_by: row.created_by,
    last_accessed_at: lastAccessedAt,
    last_viewed_at: lastAccessedAt,
    last_refresh: null,
    is_shared: row.is_shared,
    deleted: row.deleted,
    creation_mode: row.creation_mode,
    tags: row.tags,
    restriction_level: row.restriction_level,
    ...describeRights(
      [row],
      canChangeDashboard(row, viewer) && hasRecordLevel(viewer.rights, 'dashboard', 'editor', toRecordName(row)),
    ),
    access_control_version: row.restriction_level === restrictionLevels.everybody ? 'v2' : 'v1',
    team_id: viewer.environmentId,
    tiles: null,
  };
}

/** Filters that replace the stored filters, and the function that computes insight results. */
export interface TileRunner {
  filters?: Record<string, unknown> | undefined;
  variables?: Record<string, unknown> | undefined;
  run(row: InsightRow): Promise<Partial<InsightResult> | undefined>;
}

/**
 * Converts a dashboard with its tiles to an API response. Computes results only if a `tileRunner` is given. A tile is
 * empty if the viewer cannot see its insight.
 */
export async function showDashboard(sql: Sql, row: DashboardRow, viewer: Viewer, tileRunner?: TileRunner) {
  const tiles = row.deleted ? [] : sortByLayout(await listTiles(sql, row.id));
  const ids = tiles.flatMap(({ insight_id }) => insight_id ?? []);
  const found = await findInsights(sql, viewer.environmentId, ids);
  const seen = found.filter((one) => hasRecordLevel(viewer.rights, 'insight', 'viewer', toRecordName(one)));
  const insights = new Map(seen.map((one) => [one.id, one]));
  const filters = tileRunner?.filters ?? row.filters;
  const variables = mergeVariables(row.variables, tileRunner?.variables);
  const underOwn = (tile: TileRow): InsightRow | undefined => {
    const insight = insights.get(tile.insight_id ?? 0);
    if (insight === undefined) return undefined;
    const query = buildTileQuery(insight.query, { own: tile.filters_overrides, ofDashboard: filters, variables });
    return { ...insight, query: query as InsightRow['query'] };
  };
  const shown = tiles.map((tile) => ({ tile, insight: underOwn(tile) }));
  const results = await Promise.all(
    shown.map(async ({ insight }) => ({ ...noResult, ...(insight && (await tileRunner?.run(insight))) })),
  );
  const refreshed = results.flatMap(({ last_refresh: at }) => at ?? []).sort();
  return {
    ...toBasicDashboard(row, viewer),
    last_refresh: refreshed[0] ?? null,
    filters: { ...filters },
    variables: row.variables || tileRunner?.variables ? variables : null,
    persisted_filters: { ...row.filters },
    persisted_variables: row.variables && { ...row.variables },
    breakdown_colors: row.breakdown_colors,
    data_color_theme_id: row.data_color_theme_id,
    quick_filter_ids: row.quick_filter_ids,
    tiles: shown.map(({ tile, insight }, order) => {
      const result = results[order] ?? noResult;
      return {
        id: tile.id,
        insight: insight === undefined ? null : toInsight(insight, viewer, result),
        text: toText(tile, viewer),
        button_tile: null,
        layouts: { ...tile.layouts },
        color: tile.color,
        filters_overrides: tile.filters_overrides && { ...tile.filters_overrides },
        show_description: tile.show_description,
        transparent_background: tile.transparent_background,
        order,
        last_refresh: result.last_refresh,
        is_cached: result.is_cached,
      };
    }),
  };
}

function toText(tile: TileRow, { environmentId }: Viewer) {
  const { id, body, created_by, last_modified_at, last_modified_by } = tile;
  if (body === null) return null;
  return {
    id,
    body,
    created_by,
    last_modified_at: last_modified_at && formatDateTime(last_modified_at),
    last_modified_by,
    team: environmentId,
    dashboard_tiles: [id],
  };
}
