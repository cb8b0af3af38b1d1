import { isObject } from '@millrace/contracts';
import { brief, filterProblem } from './filter-problem.ts';
import type { ConditionFilter } from './flag-filters.ts';
import { withoutNames } from './names-in-filters.ts';
import { parsePropertyTest } from './parse-property-test.ts';

export interface FilterRules {
  /** Where the filter stands, e.g. `groups[0].properties[1]`. */
  path: string;
  /** The group type of its condition; null: the person. */
  aggregation: number | null;
  knownPatterns: ReadonlySet<unknown>;
}

/** One filter of a condition. @throws AppError `invalid`. */
export function parseConditionFilter(given: unknown, rules: FilterRules): ConditionFilter {
  if (!isObject(given)) throw filterProblem(`${rules.path}: must be a filter, not ${brief(given)}`);
  const { type = 'person' } = given;
  checkType(type, given, rules);
  const filter = withoutNames(given);
  switch (type) {
    case 'cohort':
      return { ...filter, ...parseCohortFilter(filter, rules), type };
    case 'flag':
      return { ...filter, ...parseFlagFilter(filter, rules), type };
    case 'group':
      return { ...filter, ...parsePropertyTest(filter, { ...rules, type }), type, group_type_index: rules.aggregation };
    default:
      return { ...filter, ...parsePropertyTest(filter, { ...rules, type: 'person' }), type: 'person' };
  }
}

/** A condition asks about the person, or about one group; never about both. */
function checkType(type: unknown, filter: Record<string, unknown>, { aggregation }: FilterRules): void {
  if (aggregation === null) {
    if (type === 'person' || type === 'cohort' || type === 'flag') return;
    throw filterProblem('Filters are not valid (can only use person, cohort, and flag properties)');
  }
  const groupType = filter.group_type_index ?? aggregation;
  if (type !== 'group' || groupType !== aggregation) {
    throw filterProblem('Filters are not valid (can only use group properties)');
  }
}

/** Absent and `exact` mean `in`: servers and SDKs would not agree on them. */
function parseCohortFilter({ value, operator }: Record<string, unknown>, { path }: FilterRules) {
  const cohortId = idOf(value);
  if (cohortId === null) throw filterProblem(`${path}.value: must be the id of a cohort, not ${brief(value)}`);
  if (operator === 'not_in') return { key: 'id', value: cohortId, operator };
  if (operator === undefined || operator === null || operator === 'in' || operator === 'exact') {
    return { key: 'id', value: cohortId, operator: 'in' };
  }
  throw filterProblem(`The '${brief(operator)}' operator is not valid for cohort properties.`, 'invalid_operator');
}

function parseFlagFilter({ key, value, operator }: Record<string, unknown>, { path }: FilterRules) {
  if (operator !== 'flag_evaluates_to') {
    throw filterProblem("Flag properties must use the 'flag_evaluates_to' operator");
  }
  const flagId = idOf(key);
  if (flagId === null) {
    throw filterProblem(
      `Flag dependencies must reference flag IDs (integers), not flag keys. Invalid reference: '${brief(key)}'`,
    );
  }
  if (typeof value !== 'boolean' && typeof value !== 'string') {
    throw filterProblem(`${path}.value: must be true, false or the key of a variant, not ${brief(value)}`);
  }
  return { key: String(flagId), operator, value };
}

/** Ids come as numbers and as decimal text. */
function idOf(value: unknown): number | null {
  const id = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= 2_147_483_647 ? id : null;
}
