import { isObject } from '@millrace/contracts';

/**
 * The tree of a cohort's filters. Cohorts of old have a list of groups instead, any of which makes a member; a group has
 * a list of filters, all of which have to match.
 */
export function cohortTree({ filters, groups }: { filters: unknown; groups: unknown }): unknown {
  if (isObject(filters)) return filters.properties ?? null;
  if (!Array.isArray(groups) || groups.length === 0) return null;
  return {
    type: 'OR',
    values: groups.map((group) => ({ type: 'AND', values: isObject(group) ? filtersOf(group.properties) : [] })),
  };
}

/** The oldest form is an object: `{"plan": "pro"}`. */
function filtersOf(properties: unknown): unknown[] {
  if (Array.isArray(properties)) return properties;
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([key, value]) => ({ type: 'person', key, operator: 'exact', value }));
}
