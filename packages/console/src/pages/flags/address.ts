// The URL parameters of the Feature flags page.

import { part, useUrlState } from '../../parts/address.ts';

const parts = {
  search: part.text(),
  state: part.oneOf(['all', 'true', 'false', 'STALE', 'archived'], 'all'),
  tag: part.text(),
  sort: part.oneOf(['newest', 'key', '-updated_at', '-last_called_at'], 'newest'),
  flag: part.text(),
  tab: part.oneOf(['conditions', 'why', 'history', 'exposures', 'code'], 'conditions'),
  person: part.text(),
  groups: part.list(),
};
export const useFlagsUrlState = () => useUrlState(parts);
export type FlagsUrlState = ReturnType<typeof useFlagsUrlState>;
