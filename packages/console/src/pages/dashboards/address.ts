// The URL parameters of the Dashboards page.

import { isRangeKey } from '../../filters/date-range.tsx';
import { matchingText, part, useUrlState } from '../../parts/address.ts';
import { toFields } from '../../results/insight-query.ts';
import type { BoardView } from './load.ts';

/** The URL parameters for the user's own view of a dashboard, which differs from the saved view. */
export const boardParts = {
  /** Key of the date range, if it differs from the saved date range. */
  time: matchingText(isRangeKey),
  /** JSON of the filters, if they differ from the saved filters. */
  filters: part.text(),
  /** JSON of the variable values by variable ID, if they differ from the saved values. */
  variables: part.text(),
  edit: part.flag(),
};

export const readBoardView = ({ time, filters, variables }: Record<keyof BoardView, string>): BoardView => ({
  time,
  filters: readList(filters),
  variables: toFields(readJson(variables)),
});

/** Returns the URL parameters for changes to the user's own view. */
export const toBoardParameters = ({ time, filters, variables }: Partial<BoardView>) => ({
  ...(time !== undefined && { time }),
  ...(filters !== undefined && { filters: filters === null ? '' : JSON.stringify(filters) }),
  ...(variables && { variables: Object.keys(variables).length === 0 ? '' : JSON.stringify(variables) }),
});

/** Parses a JSON list. @returns null if the JSON is not a list */
function readList(json: string): unknown[] | null {
  const list = readJson(json);
  return Array.isArray(list) ? list : null;
}

function readJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

const parts = {
  ...boardParts,
  dashboard: part.text(),
  search: part.text(),
  /** Sort order. If it is empty, favorites come first, and the rest is sorted by name. */
  order: part.oneOf(['', 'name', '-name', 'created_by', '-created_by', '-last_accessed_at', 'last_accessed_at'], ''),
  favorites: part.flag(),
};

export const useDashboardsUrlState = () => useUrlState(parts);
export type DashboardsUrlState = ReturnType<typeof useDashboardsUrlState>;
