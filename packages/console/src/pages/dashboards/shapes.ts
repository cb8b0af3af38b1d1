/** The fields of dashboards and tiles that the pages use. */

export interface Dashboard {
  id: number;
  name: string | null;
  description: string;
  pinned: boolean;
  tags: string[];
  created_by: { first_name: string; email: string } | null;
  last_accessed_at: string | null;
  /** The saved filters, even if the request contained others. */
  persisted_filters?: DashboardFilters | null;
  /** The saved values of variables, by variable ID. */
  persisted_variables?: Record<string, unknown> | null;
  /** The tiles. Null in lists of dashboards. */
  tiles: Tile[] | null;
}

/** Filters of a dashboard. They include fields that the console does not know, so that saving keeps these. */
export interface DashboardFilters extends Record<string, unknown> {
  date_from?: string | null;
  date_to?: string | null;
  /** Filters that are combined with AND and applied to each insight of the dashboard. */
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
  /** Pairs of the name and the type of a column. Only an SQL query has them. */
  types?: unknown;
  last_refresh: string | null;
}

export interface Size {
  w: number;
  h: number;
}

/** Number of columns of the grid. */
export const columns = 12;
/** Maximum height of a tile in rows. */
export const maxRows = 20;

/** Returns the size of a tile in columns and rows. A tile without a stored size has the API's default size. */
export function sizeOf({ layouts: { sm }, text }: Pick<Tile, 'layouts' | 'text'>): Size {
  const within = (value: unknown, most: number, usual: number) =>
    typeof value === 'number' && value >= 1 ? Math.min(Math.round(value), most) : usual;
  return { w: within(sm?.w, columns, 6), h: within(sm?.h, maxRows, text === null ? 5 : 2) };
}
