/** The fields of dashboards and tiles that the pages use. */

export interface Dashboard {
  id: number;
  name: string | null;
  description: string;
  pinned: boolean;
  tags: string[];
  created_by: { first_name: string; email: string } | null;
  last_accessed_at: string | null;
  /** The saved filters, even if the request had others. */
  persisted_filters?: DashboardFilters | null;
  /** The saved values of variables, by ID. */
  persisted_variables?: Record<string, unknown> | null;
  /** Null in lists. */
  tiles: Tile[] | null;
}

/** Includes fields that the console does not know, so that saving preserves them. */
export interface DashboardFilters extends Record<string, unknown> {
  date_from?: string | null;
  date_to?: string | null;
  /** Filters combined with AND, applied to each insight of the dashboard. */
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
  /** For an SQL query: pairs of a column and its type. */
  types?: unknown;
  last_refresh: string | null;
}

export interface Size {
  w: number;
  h: number;
}

/** Columns of the grid, and the maximum height of a tile in rows. */
export const columns = 12;
export const maxRows = 20;

/** The size of a tile in columns and rows. A tile without a stored size gets the API's default size. */
export function sizeOf({ layouts: { sm }, text }: Pick<Tile, 'layouts' | 'text'>): Size {
  const within = (value: unknown, most: number, usual: number) =>
    typeof value === 'number' && value >= 1 ? Math.min(Math.round(value), most) : usual;
  return { w: within(sm?.w, columns, 6), h: within(sm?.h, maxRows, text === null ? 5 : 2) };
}
