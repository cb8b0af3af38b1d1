// Sorts a dashboard's tiles for display, and builds their queries.

import { overrideFilters, overrideVariables } from './override.ts';
import { isRecord } from './query-parts.ts';

interface Placed {
  id: number;
  deleted: boolean;
  layouts: Record<string, unknown>;
}

/** Returns the tiles that are not deleted, from top to bottom. Tiles without a position come last. */
export function sortByLayout<Tile extends Placed>(tiles: readonly Tile[]): Tile[] {
  const placeOf = ({ layouts: { sm }, id }: Tile) => {
    const place = isRecord(sm) ? sm : {};
    return [place.y, place.x].map((value) => (typeof value === 'number' ? value : 100)).concat(id);
  };
  return tiles.filter(({ deleted }) => !deleted).sort((a, b) => compareLists(placeOf(a), placeOf(b)));
}

function compareLists(one: number[], other: number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** Returns a tile's query with the tile's own filters applied, or with the dashboard's filters if the tile has none. */
export function buildTileQuery(
  query: unknown,
  { own, ofDashboard, variables }: { own: Record<string, unknown> | null; ofDashboard: unknown; variables: unknown },
): unknown {
  const filtered = overrideFilters(query, own !== null && Object.keys(own).length > 0 ? own : ofDashboard);
  return overrideVariables(filtered, variables);
}
