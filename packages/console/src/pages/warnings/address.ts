// The URL parameters of the Warnings page.

import { useProject } from '../../frame/project.ts';
import { matchingText, part, useUrlState } from '../../parts/address.ts';
import { isValidTime, resolveZone, type Span, zones } from '../../parts/span.tsx';

const parts = {
  tab: part.oneOf(['kinds', 'letters'], 'kinds'),
  after: matchingText(isValidTime, '-7d'),
  before: matchingText(isValidTime),
  zone: part.oneOf(zones, 'project'),
  severity: part.oneOf(['all', 'error', 'warning', 'info'], 'all'),
  search: part.text(),
  /**
   * Severity and type of the open warning. Empty to open the first warning. `none` if the user has closed the warning.
   */
  open: part.text(),
  reason: part.text(),
  topic: part.oneOf(['all', 'live', 'historical', 'overflow'], 'all'),
  state: part.oneOf(['waiting', 'replayed', 'discarded', 'all'], 'waiting'),
  /** Topic, partition and offset of the open dead letter. */
  letter: part.text(),
};

export function useWarningsUrlState() {
  const { view, change, unknown } = useUrlState(parts);
  const project = useProject();
  const { after, before, zone } = view;
  const span: Span = { after, before };
  return { view, change, unknown, span, zone: resolveZone(zone, project.timezone) };
}

export type WarningsUrlState = ReturnType<typeof useWarningsUrlState>;

/** Returns the API value of an option, which is undefined for `all`. */
export const toFilterValue = (value: string) => (value === 'all' ? undefined : value);
