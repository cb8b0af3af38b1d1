import type { TestOptions } from '../filters/value-test.ts';
import { compact } from './compact.ts';
import { compileCohortFilter, compileFilter, groupTypeIndex, objectsIn } from './compile-filter.ts';
import type { CohortFilter, CompiledCondition, CompiledFilter } from './compiled.ts';

/**
 * One condition set of a flag.
 * @param flagAggregation the flag's group type, for conditions that name none. A condition that says null is the person's
 */
export function compileCondition(
  condition: Record<string, unknown>,
  { flagAggregation, options }: { flagAggregation: number | null; options: TestOptions },
): CompiledCondition {
  const aggregation = Object.hasOwn(condition, 'aggregation_group_type_index')
    ? groupTypeIndex(condition.aggregation_group_type_index)
    : flagAggregation;
  const filters: CompiledFilter[] = [];
  const cohortFilters: CohortFilter[] = [];
  for (const filter of filtersOf(condition)) {
    if (filter.type !== 'cohort') filters.push(compileFilter(filter, aggregation, options));
    else addCohortFilter(filter);
  }
  return {
    aggregation,
    filters: compact(filters),
    cohortFilters: compact(cohortFilters),
    rolloutPercentage: percentageOf(condition.rollout_percentage),
    variant: typeof condition.variant === 'string' ? condition.variant : null,
  };

  function addCohortFilter(filter: Record<string, unknown>): void {
    const compiled = compileCohortFilter(filter);
    if (compiled === null) filters.push({ kind: 'never' });
    else cohortFilters.push(compiled);
  }
}

/** What is no filter at all matches nothing: leaving it out would open the condition to everybody. */
function filtersOf({ properties }: Record<string, unknown>): Record<string, unknown>[] {
  if (properties === undefined || properties === null) return [];
  const filters = objectsIn(properties);
  const isWhole = Array.isArray(properties) && filters.length === properties.length;
  return isWhole ? filters : [{ type: 'unreadable' }];
}

/** Nothing said means everybody; what is no number means nobody. */
function percentageOf(value: unknown): number {
  if (value === undefined || value === null) return 100;
  return typeof value === 'number' ? value : -1;
}
