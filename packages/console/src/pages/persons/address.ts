// The URL parameters of the Persons page.

import { part, useUrlState } from '../../parts/address.ts';

const parts = {
  search: part.text(),
  sort: part.oneOf(['-created_at', 'created_at'], '-created_at'),
  /** UUID or distinct ID of the open person. */
  person: part.text(),
  tab: part.oneOf(['properties', 'ids', 'events', 'cohorts', 'flags'], 'properties'),
};
export const usePersonsUrlState = () => useUrlState(parts);
export type PersonsUrlState = ReturnType<typeof usePersonsUrlState>;
