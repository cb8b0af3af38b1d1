// Reads the insight or dashboard that a report is about.

import type { Sql } from '@millrace/db';

export interface SubjectInsight {
  id: number;
  short_id: string;
  name: string;
  description: string;
  query: unknown;
}

export interface SubjectTile {
  id: number;
  deleted: boolean;
  layouts: Record<string, unknown>;
  filters_overrides: Record<string, unknown> | null;
  insight: SubjectInsight;
}

export interface ReportSubject {
  kind: 'insight' | 'dashboard';
  id: number;
  name: string;
  description: string;
  timezone: string;
  filters: unknown;
  variables: unknown;
  tiles: SubjectTile[];
}

const insightColumns = `json_build_object('id', i.id, 'short_id', i.short_id,
  'name', coalesce(nullif(i.name, ''), nullif(i.derived_name, ''), 'Insight ' || i.id),
  'description', coalesce(i.description, ''), 'query', i.query)`;

/**
 * Finds a report's insight or dashboard. An insight counts as a dashboard with a single tile. Returns null if the
 * insight or dashboard is deleted or belongs to a different project.
 */
export async function findReportSubject(
  sql: Sql,
  { projectId, insight, dashboard }: { projectId: number; insight: number | null; dashboard: number | null },
): Promise<ReportSubject | null> {
  const rows =
    insight !== null
      ? await sql.query<ReportSubject & Record<string, unknown>>(
          `SELECT 'insight' AS kind, i.id, coalesce(nullif(i.name, ''), nullif(i.derived_name, ''), 'Insight ' || i.id) AS name,
                  coalesce(i.description, '') AS description, e.timezone, NULL AS filters, NULL AS variables,
                  json_build_array(json_build_object('id', i.id, 'deleted', false, 'layouts', '{}'::json,
                                                     'filters_overrides', NULL, 'insight', ${insightColumns})) AS tiles
             FROM insight i JOIN environment e ON e.id = i.project_id
            WHERE i.id = $1 AND i.project_id = $2 AND NOT i.deleted`,
          [insight, projectId],
        )
      : await sql.query<ReportSubject & Record<string, unknown>>(
          `SELECT 'dashboard' AS kind, d.id, coalesce(nullif(d.name, ''), 'Dashboard ' || d.id) AS name,
                  coalesce(d.description, '') AS description, e.timezone, d.filters, d.variables,
                  (SELECT coalesce(json_agg(json_build_object('id', t.id, 'deleted', t.deleted, 'layouts', t.layouts,
                            'filters_overrides', t.filters_overrides, 'insight', ${insightColumns})), '[]')
                     FROM dashboard_tile t JOIN insight i ON i.id = t.insight_id
                    WHERE t.dashboard_id = d.id AND NOT t.deleted AND NOT i.deleted) AS tiles
             FROM dashboard d JOIN environment e ON e.id = d.project_id
            WHERE d.id = $1 AND d.project_id = $2 AND NOT d.deleted`,
          [dashboard, projectId],
        );
  return rows[0] ?? null;
}
