/** What the pages use of a dashboard and its tiles. */

export interface Dashboard {
  id: number;
  name: string | null;
  description: string;
  created_by: { first_name: string; email: string } | null;
  last_accessed_at: string | null;
  last_refresh: string | null;
  /** What is stored, whatever was asked for now. */
  persisted_filters?: DashboardFilters | null;
  /** Null in lists. */
  tiles: Tile[] | null;
}

/** What this page does not know of stays in it. */
export interface DashboardFilters extends Record<string, unknown> {
  date_from?: string | null;
  date_to?: string | null;
  /** Conditions that all hold, in each of its insights. */
  properties?: unknown;
}

export interface Tile {
  id: number;
  insight: TileInsight | null;
  text: { body: string } | null;
  layouts: { sm?: { w?: number } };
}

export interface TileInsight {
  id: number;
  short_id: string;
  name: string | null;
  derived_name: string | null;
  dashboards: number[];
  query: unknown;
  result: unknown;
  columns: string[] | null;
  last_refresh: string | null;
  query_status: { error: boolean; error_message: string | null } | null;
}
