import { mapConditionFilters } from './map-condition-filters.ts';

/** What a filter gets when it is shown, and may come back with. */
const names = new Set(['cohort_name', 'group_key_names']);

/** A filter as it is stored: without what it only got to be shown. */
export function withoutNames(filter: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(filter).filter(([name]) => !names.has(name)));
}

/** A flag's filters as somebody read them, without the names of what they name. */
export function withoutNamesInFilters(filters: Record<string, unknown>): Record<string, unknown> {
  return mapConditionFilters(filters, withoutNames);
}
