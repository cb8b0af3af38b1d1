/** What the pages use of a dashboard and its tiles. */

export interface Dashboard {
  id: number;
  name: string | null;
  description: string;
  created_by: { first_name: string; email: string } | null;
  last_accessed_at: string | null;
  last_refresh: string | null;
  /** Null in lists. */
  tiles: Tile[] | null;
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
