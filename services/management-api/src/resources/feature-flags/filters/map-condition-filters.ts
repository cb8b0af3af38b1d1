import { isObject } from '@millrace/contracts';

type Filter = Record<string, unknown>;

/** The filters of a flag's conditions. What has another shape, as flags of old may have, is passed over. */
export function conditionFiltersIn({ groups }: Record<string, unknown>): Filter[] {
  return listOf(groups).flatMap(({ properties }) => listOf(properties));
}

/** A flag's filters with every filter of a condition changed; what has another shape stays as it is. */
export function mapConditionFilters<Filters extends Record<string, unknown>>(
  filters: Filters,
  change: (filter: Filter) => Filter,
): Filters {
  if (!Array.isArray(filters.groups)) return filters;
  const groups = filters.groups.map((group: unknown) => {
    if (!isObject(group) || !Array.isArray(group.properties)) return group;
    return {
      ...group,
      properties: group.properties.map((filter: unknown) => (isObject(filter) ? change(filter) : filter)),
    };
  });
  return { ...filters, groups };
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
