// The URL parameters of the Dashboards page.

import { isRangeKey } from '../../filters/date-range.tsx';
import { matchingText, part, useUrlState } from '../../parts/address.ts';
import { toFields } from '../../results/insight-query.ts';
import type { DashboardView } from './load.ts';

/** The URL parameters that store the user's own view of a dashboard, which may differ from the saved view. */
export const boardParts = {
  /** Key of the user's date range. Empty to use the saved date range. */
  time: matchingText(isRangeKey),
  /** JSON of the user's filters. Empty to use the saved filters. */
  filters: part.text(),
  /** JSON of the user's variable values by variable ID. Empty to use the saved values. */
  variables: part.text(),
  edit: part.flag(),
};

export const readDashboardView = ({
  time,
  filters,
  variables,
}: Record<keyof DashboardView, string>): DashboardView => ({
  time,
  filters: readList(filters),
  variables: toFields(readJson(variables)),
});

export const toDashboardParameters = ({ time, filters, variables }: Partial<DashboardView>) => ({
  ...(time !== undefined && { time }),
  ...(filters !== undefined && { filters: filters === null ? '' : JSON.stringify(filters) }),
  ...(variables && { variables: Object.keys(variables).length === 0 ? '' : JSON.stringify(variables) }),
});

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
  /** Sort order. By default, favorites come first, and the remaining dashboards are sorted by name. */
  order: part.oneOf(['', 'name', '-name', 'created_by', '-created_by', '-last_accessed_at', 'last_accessed_at'], ''),
  favorites: part.flag(),
};

export const useDashboardsUrlState = () => useUrlState(parts);
export type DashboardsUrlState = ReturnType<typeof useDashboardsUrlState>;
