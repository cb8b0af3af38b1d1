/** What the pages use of a dashboard and its tiles. */

export interface Dashboard {
  id: number;
  name: string | null;
  description: string;
  pinned: boolean;
  tags: string[];
  created_by: { first_name: string; email: string } | null;
  last_accessed_at: string | null;
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
  layouts: { sm?: { w?: number; h?: number } };
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
}

export interface Size {
  w: number;
  h: number;
}

/** Columns of the grid, and the most rows of a tile. */
export const columns = 12;
export const mostRows = 20;

/** The size of a tile in columns and rows; one that has none is of the size that the API gives it. */
export function sizeOf({ layouts: { sm }, text }: Pick<Tile, 'layouts' | 'text'>): Size {
  const within = (value: unknown, most: number, usual: number) =>
    typeof value === 'number' && value >= 1 ? Math.min(Math.round(value), most) : usual;
  return { w: within(sm?.w, columns, 6), h: within(sm?.h, mostRows, text === null ? 5 : 2) };
}
