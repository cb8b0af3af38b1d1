import { isObject } from '@millrace/contracts';
import { brief, filterProblem } from './filter-problem.ts';
import type { FlagCondition, FlagVariant } from './flag-filters.ts';
import { parseAggregation } from './parse-aggregation.ts';
import { parseConditionFilter } from './parse-condition-filter.ts';

const mostFilters = 1000;

export interface ConditionRules {
  /** Where the condition stands, e.g. `groups[0]`. */
  path: string;
  /** The group type of conditions that name none; null: the person. */
  aggregation: number | null;
  variants: readonly FlagVariant[];
  /** Not checked again. */
  knownPatterns: ReadonlySet<unknown>;
}

/** One condition set, with the group type it goes by written out. @throws AppError `invalid`. */
export function parseCondition(condition: unknown, rules: ConditionRules): FlagCondition {
  const { path, variants, knownPatterns } = rules;
  if (!isObject(condition)) throw filterProblem(`${path}: must be a condition set, not ${brief(condition)}`);
  const { properties = [], rollout_percentage: rollout, variant } = condition;
  const aggregation = Object.hasOwn(condition, 'aggregation_group_type_index')
    ? parseAggregation(condition.aggregation_group_type_index, `${path}.aggregation_group_type_index`)
    : rules.aggregation;
  const filters = properties ?? [];
  if (!Array.isArray(filters)) throw filterProblem(`${path}.properties: must be a list of filters`);
  if (filters.length > mostFilters) throw filterProblem(`${path}.properties: may hold ${mostFilters} filters at most`);
  checkRollout(rollout, `${path}.rollout_percentage`);
  checkVariant(variant, variants);
  return {
    ...condition,
    properties: filters.map((filter, index) =>
      parseConditionFilter(filter, { path: `${path}.properties[${index}]`, aggregation, knownPatterns }),
    ),
    aggregation_group_type_index: aggregation,
  };
}

/** Absent and null mean everybody. */
function checkRollout(value: unknown, path: string): void {
  if (value === undefined || value === null) return;
  if (typeof value === 'number' && value >= 0 && value <= 100) return;
  throw filterProblem(`${path}: must be a number from 0 to 100, not ${brief(value)}`);
}

function checkVariant(variant: unknown, variants: readonly FlagVariant[]): void {
  if (variant === undefined || variant === null || variant === '') return;
  if (variants.some(({ key }) => key === variant)) return;
  throw filterProblem('Filters are not valid (variant override does not exist)');
}
