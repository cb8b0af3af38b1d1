import type { ConditionFilter, FlagFilters } from './flag-filters.ts';

/** Filters that name other cohorts and flags in place of those they name; what has no other stays. */
export function withReferences(
  filters: FlagFilters,
  { cohorts, flags }: { cohorts: ReadonlyMap<number, number>; flags: ReadonlyMap<number, number> },
): FlagFilters {
  const renamed = (filter: ConditionFilter): ConditionFilter => {
    switch (filter.type) {
      case 'cohort':
        return { ...filter, value: cohorts.get(Number(filter.value)) ?? filter.value };
      case 'flag':
        return { ...filter, key: String(flags.get(Number(filter.key)) ?? filter.key) };
      default:
        return filter;
    }
  };
  const groups = filters.groups.map((group) => ({ ...group, properties: (group.properties ?? []).map(renamed) }));
  return { ...filters, groups };
}
