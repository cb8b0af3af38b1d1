import { isRangeKey } from '../../filters/date-range.tsx';
import { matching, part, useAddress } from '../../parts/address.ts';

const parts = {
  /** Number of the one that is open. */
  dashboard: part.text(),
  search: part.text(),
  /** Empty: favorites first, then by name. */
  order: part.oneOf(['', 'name', '-name', 'created_by', '-created_by', '-last_accessed_at', 'last_accessed_at'], ''),
  favorites: part.flag(),
  /** Key of the date range in place of the saved one. */
  time: matching(isRangeKey),
  /** JSON of the filters in place of the saved ones. */
  filters: part.text(),
  edit: part.flag(),
};

export const useDashboardsAddress = () => useAddress(parts);
export type DashboardsAddress = ReturnType<typeof useDashboardsAddress>;
