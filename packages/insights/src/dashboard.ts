// What stands on a dashboard, and what it asks.

import { withFilters } from './override.ts';
import { isRecord } from './query-parts.ts';

interface Placed {
  id: number;
  deleted: boolean;
  layouts: Record<string, unknown>;
}

/** Tiles that are on the dashboard, in the order in which it shows them: from top to bottom, those without a place last. */
export function inOrderOfLayout<Tile extends Placed>(tiles: readonly Tile[]): Tile[] {
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

/** The query of a tile: filters of its own stand in place of the dashboard's. */
export function queryOfTile(
  query: unknown,
  { own, ofDashboard }: { own: Record<string, unknown> | null; ofDashboard: unknown },
): unknown {
  return withFilters(query, own !== null && Object.keys(own).length > 0 ? own : ofDashboard);
}
