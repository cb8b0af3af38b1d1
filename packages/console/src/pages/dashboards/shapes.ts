/** Dashboards and tiles in the API's format. */

export interface Dashboard {
  id: number;
  name: string | null;
  description: string;
  pinned: boolean;
  tags: string[];
  created_by: { first_name: string; email: string } | null;
  last_accessed_at: string | null;
  /** The saved filters, even if the request overrides them. */
  persisted_filters?: DashboardFilters | null;
  /** The saved variable values by variable ID. */
  persisted_variables?: Record<string, unknown> | null;
  /** The dashboard's tiles, or null in lists of dashboards. */
  tiles: Tile[] | null;
}

/** A dashboard's filters. Saving preserves fields that the console does not recognize. */
export interface DashboardFilters extends Record<string, unknown> {
  date_from?: string | null;
  date_to?: string | null;
  /** Filters that are combined with AND and apply to every insight on the dashboard. */
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
  /** Name and type of each column. Only set for SQL queries. */
  types?: unknown;
  last_refresh: string | null;
}

export interface Size {
  w: number;
  h: number;
}

export const columns = 12;
/** Maximum height of a tile, in rows. */
export const maxRows = 20;

/** Returns a tile's size in columns and rows. If no size is stored, returns the API's default size. */
export function getTileSize({ layouts: { sm }, text }: Pick<Tile, 'layouts' | 'text'>): Size {
  const within = (value: unknown, most: number, usual: number) =>
    typeof value === 'number' && value >= 1 ? Math.min(Math.round(value), most) : usual;
  return { w: within(sm?.w, columns, 6), h: within(sm?.h, maxRows, text === null ? 5 : 2) };
}
