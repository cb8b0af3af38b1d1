// The parts of the URL of the Groups page.

import { part, useUrlState } from '../../parts/address.ts';

export const spans = ['-7d', '-30d', '-90d', '-365d'] as const;
const parts = {
  /** Name of the group type. If it is empty, the first group type is shown. */
  type: part.text(),
  search: part.text(),
  /** Key of the open group. */
  key: part.text(),
  tab: part.oneOf(['properties', 'members', 'events'], 'properties'),
  /** The time range of the events that determine which persons belong to a group. */
  after: part.oneOf(spans, '-30d'),
};
export const useGroupsUrlState = () => useUrlState(parts);
export type GroupsUrlState = ReturnType<typeof useGroupsUrlState>;
