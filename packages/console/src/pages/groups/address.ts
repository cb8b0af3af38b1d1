// The parts of the URL of the Groups page.

import { part, useUrlState } from '../../parts/address.ts';

export const spans = ['-7d', '-30d', '-90d', '-365d'] as const;
const parts = {
  /** Name of the group type. Empty for the first group type. */
  type: part.text(),
  search: part.text(),
  /** Key of the open group. */
  key: part.text(),
  tab: part.oneOf(['properties', 'members', 'events'], 'properties'),
  /** The time range whose events determine which persons belong to a group. */
  after: part.oneOf(spans, '-30d'),
};
export const useGroupsUrlState = () => useUrlState(parts);
export type GroupsUrlState = ReturnType<typeof useGroupsUrlState>;
