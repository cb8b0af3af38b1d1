// The display order of a dashboard's tiles, and their queries.

import { overrideFilters, overrideVariables } from './override.ts';
import { isRecord } from './query-parts.ts';

interface Placed {
  id: number;
  deleted: boolean;
  layouts: Record<string, unknown>;
}

/** Returns the tiles that are not deleted, in display order: from top to bottom, and tiles without a position last. */
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

/** Returns a tile's query. The tile's own filters replace those of the dashboard. */
export function buildTileQuery(
  query: unknown,
  { own, ofDashboard, variables }: { own: Record<string, unknown> | null; ofDashboard: unknown; variables: unknown },
): unknown {
  const filtered = overrideFilters(query, own !== null && Object.keys(own).length > 0 ? own : ofDashboard);
  return overrideVariables(filtered, variables);
}
