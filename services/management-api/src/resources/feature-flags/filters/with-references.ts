import type { FlagFilters } from './flag-filters.ts';
import { mapConditionFilters } from './map-condition-filters.ts';

/** Filters that name other cohorts and flags in place of those they name; what has no other stays. */
export function withReferences(
  filters: FlagFilters,
  { cohorts, flags }: { cohorts: ReadonlyMap<number, number>; flags: ReadonlyMap<number, number> },
): FlagFilters {
  return mapConditionFilters(filters, (filter) => {
    switch (filter.type) {
      case 'cohort':
        return { ...filter, value: cohorts.get(Number(filter.value)) ?? filter.value };
      case 'flag':
        return { ...filter, key: String(flags.get(Number(filter.key)) ?? filter.key) };
      default:
        return filter;
    }
  });
}
