// The URL parameters of the Groups page.

import { part, useUrlState } from '../../parts/address.ts';

export const spans = ['-7d', '-30d', '-90d', '-365d'] as const;
const parts = {
  /** Name of the group type. Empty to show the first group type. */
  type: part.text(),
  search: part.text(),
  key: part.text(),
  tab: part.oneOf(['properties', 'members', 'events'], 'properties'),
  /** Time range of the listed events, and of the events that determine which persons belong to the group. */
  after: part.oneOf(spans, '-30d'),
};
export const useGroupsUrlState = () => useUrlState(parts);
export type GroupsUrlState = ReturnType<typeof useGroupsUrlState>;
