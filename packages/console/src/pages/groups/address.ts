// The URL parameters of the Groups page.

import { part, useUrlState } from '../../parts/address.ts';

export const spans = ['-7d', '-30d', '-90d', '-365d'] as const;
const parts = {
  /** Name of the group type. If it is empty, the page shows the first group type. */
  type: part.text(),
  search: part.text(),
  /** Key of the open group. */
  key: part.text(),
  tab: part.oneOf(['properties', 'members', 'events'], 'properties'),
  /** The time range of events that determines which persons belong to a group. */
  after: part.oneOf(spans, '-30d'),
};
export const useGroupsUrlState = () => useUrlState(parts);
export type GroupsUrlState = ReturnType<typeof useGroupsUrlState>;
