import { isObject } from '@millrace/contracts';
import type { CohortFilters } from './cohort-tree.ts';

/**
 * The tree that a list of groups of old says: who meets all properties of one of them. What is about events or actions
 * becomes a filter on behaviour.
 * @returns null where there are no groups. Not checked yet.
 */
export function treeOfGroups(groups: unknown): CohortFilters | null {
  const listed = Array.isArray(groups) ? groups.filter(isObject) : [];
  if (listed.length === 0) return null;
  const values = listed.map((group) => ({ type: 'AND' as const, values: leavesOfGroup(group) }));
  return { properties: { type: 'OR', values } } as CohortFilters;
}

function leavesOfGroup(group: Record<string, unknown>): Record<string, unknown>[] {
  const action = group.action_id ?? group.event_id;
  if (action !== undefined && action !== null) {
    const event_type = group.event_id === undefined ? 'actions' : 'events';
    return [{ type: 'behavioral', key: action, value: 'performed_event', event_type, time_value: group.days }];
  }
  return propertiesOf(group.properties).map((property) => ({ type: 'person', operator: 'exact', ...property }));
}

/** A list of filters, or values by key with the operator behind two underscores. */
function propertiesOf(properties: unknown): Record<string, unknown>[] {
  if (Array.isArray(properties)) return properties.filter(isObject);
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, value]) => {
    const [key, operator = 'exact'] = name.split('__');
    return { key, operator, value };
  });
}
