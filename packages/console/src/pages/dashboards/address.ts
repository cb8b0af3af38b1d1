import { isRangeKey } from '../../filters/date-range.tsx';
import { matching, part, useAddress } from '../../parts/address.ts';

const parts = {
  /** ID of the open dashboard. */
  dashboard: part.text(),
  search: part.text(),
  /** Empty: favorites first, then by name. */
  order: part.oneOf(['', 'name', '-name', 'created_by', '-created_by', '-last_accessed_at', 'last_accessed_at'], ''),
  favorites: part.flag(),
  /** Key of a date range that replaces the saved one. */
  time: matching(isRangeKey),
  /** JSON of filters that replace the saved ones. */
  filters: part.text(),
  edit: part.flag(),
};

export const useDashboardsAddress = () => useAddress(parts);
export type DashboardsAddress = ReturnType<typeof useDashboardsAddress>;
