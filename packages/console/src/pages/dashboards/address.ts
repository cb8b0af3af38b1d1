// The parts of the URL of the Dashboards page.

import { isRangeKey } from '../../filters/date-range.tsx';
import { matching, part, useUrlState } from '../../parts/address.ts';
import { toFields } from '../../results/insight-query.ts';
import type { BoardView } from './load.ts';

/** How a user looks at a dashboard. */
export const boardParts = {
  /** Key of a date range that replaces the saved one. */
  time: matching(isRangeKey),
  /** JSON of filters that replace the saved ones. */
  filters: part.text(),
  /** JSON of values of variables that replace the saved ones, by ID. */
  variables: part.text(),
  edit: part.flag(),
};

/** The user's own view in the address. */
export const boardViewOf = ({ time, filters, variables }: Record<keyof BoardView, string>): BoardView => ({
  time,
  filters: readList(filters),
  variables: toFields(readJson(variables)),
});

/** A change of this view, as parameters of the address. */
export const boardAddressOf = ({ time, filters, variables }: Partial<BoardView>) => ({
  ...(time !== undefined && { time }),
  ...(filters !== undefined && { filters: filters === null ? '' : JSON.stringify(filters) }),
  ...(variables && { variables: Object.keys(variables).length === 0 ? '' : JSON.stringify(variables) }),
});

/** @returns null if the JSON is not a list */
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
  /** ID of the open dashboard. */
  dashboard: part.text(),
  search: part.text(),
  /** Empty: favorites first, then by name. */
  order: part.oneOf(['', 'name', '-name', 'created_by', '-created_by', '-last_accessed_at', 'last_accessed_at'], ''),
  favorites: part.flag(),
};

export const useDashboardsUrlState = () => useUrlState(parts);
export type DashboardsUrlState = ReturnType<typeof useDashboardsUrlState>;
