// Parses a filter in a release condition, such as a test of a person property, a cohort or another flag.

import { isObject, parseRecordId } from '@millrace/contracts';
import {
  findPatternProblem,
  isFilterDate,
  isPropertyOperator,
  isSearchTextTooLong,
  longestNeedle,
  type PropertyOperator,
  readCohortFilterId,
  type ValidatedPatterns,
} from '@millrace/flags';
import { abbreviate, type ConditionFilter, filterError, quoteJson, removeDisplayNames } from './filters.ts';

export interface FilterRules {
  path: string;
  /** The group type of the filter's condition, or null for persons. */
  aggregation: number | null;
  knownPatterns: ReadonlySet<unknown>;
  tried: ValidatedPatterns;
}

/** @throws AppError `invalid` */
export function parseConditionFilter(given: unknown, rules: FilterRules): ConditionFilter {
  if (!isObject(given)) throw filterError(`${rules.path}: must be a filter, not ${quoteJson(given)}`);
  const { type = 'person' } = given;
  checkType(type, given, rules);
  const filter = removeDisplayNames(given);
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

/**
 * Checks that the filter and its condition are about the same person or group. All filters of a condition must be about
 * the person, or all about the same group.
 */
function checkType(type: unknown, filter: Record<string, unknown>, { aggregation }: FilterRules): void {
  if (aggregation === null) {
    if (type === 'person' || type === 'cohort' || type === 'flag') return;
    throw filterError('Filters are not valid (can only use person, cohort, and flag properties)');
  }
  const groupType = filter.group_type_index ?? aggregation;
  if (type !== 'group' || groupType !== aggregation) {
    throw filterError('Filters are not valid (can only use group properties)');
  }
}

/**
 * Parses a filter on a cohort. A missing operator and `exact` are stored as `in`, because servers and SDKs interpret
 * them differently.
 */
function parseCohortFilter({ type, value, operator }: Record<string, unknown>, { path }: FilterRules) {
  const cohortId = readCohortFilterId({ type, value });
  if (cohortId === undefined) throw filterError(`${path}.value: must be a cohort ID, not ${quoteJson(value)}`);
  if (operator === 'not_in') return { key: 'id', value: cohortId, operator };
  if (operator === undefined || operator === null || operator === 'in' || operator === 'exact') {
    return { key: 'id', value: cohortId, operator: 'in' };
  }
  throw filterError(`The '${abbreviate(operator)}' operator is not valid for cohort properties.`, 'invalid_operator');
}

function parseFlagFilter({ key, value, operator }: Record<string, unknown>, { path }: FilterRules) {
  if (operator !== 'flag_evaluates_to') {
    throw filterError("Flag properties must use the 'flag_evaluates_to' operator");
  }
  const flagId = parseRecordId(key);
  if (flagId === undefined) {
    throw filterError(
      `Flag dependencies must reference flag IDs (integers), not flag keys. Invalid reference: '${abbreviate(key)}'`,
    );
  }
  if (typeof value !== 'boolean' && typeof value !== 'string') {
    throw filterError(`${path}.value: must be true, false or a variant key, not ${quoteJson(value)}`);
  }
  return { key: String(flagId), operator, value };
}

/** Operator names that older clients use. */
const aliases = new Map([
  ['min', 'gte'],
  ['max', 'lte'],
]);
const dateOperators = new Set<PropertyOperator>(['is_date_before', 'is_date_after', 'is_date_exact']);
/** Operators that compare with a number, which can be written as a string. */
const numberOperators = new Set<PropertyOperator>(['gt', 'gte', 'lt', 'lte']);
const textOperators = new Set<PropertyOperator>([
  ...(['regex', 'not_regex', 'icontains', 'not_icontains'] as const),
  ...(['starts_with', 'not_starts_with', 'ends_with', 'not_ends_with'] as const),
]);
const valueless = new Set<PropertyOperator>(['is_set', 'is_not_set']);
const maxValues = 1000;
const longestKey = 400;

interface PropertyRules {
  /** The path of the filter, such as `groups[0].properties[1]`. */
  path: string;
  type: 'person' | 'group';
  knownPatterns: ReadonlySet<unknown>;
  tried: ValidatedPatterns;
}

/** Parses a filter that tests a property. @throws AppError `invalid` */
function parsePropertyTest(
  { key, operator: operatorName, value }: Record<string, unknown>,
  rules: PropertyRules,
): { key: string; operator?: PropertyOperator } {
  const { path } = rules;
  if (typeof key !== 'string' || key === '' || key.length > longestKey) {
    throw filterError(`${path}.key: must be a property name of at most ${longestKey} characters`);
  }
  const operator = parseOperator(operatorName, rules);
  if (!valueless.has(operator)) checkValue(operator, value, { key, ...rules });
  return operatorName === undefined || operatorName === null ? { key } : { key, operator };
}

/** Parses the operator. Returns `exact` if no operator is given. */
function parseOperator(operatorName: unknown, { type }: PropertyRules): PropertyOperator {
  const operator = aliases.get(String(operatorName)) ?? operatorName ?? 'exact';
  if (isPropertyOperator(operator)) return operator;
  if (operator === 'in' || operator === 'not_in') {
    throw filterError(
      `The '${operator}' operator is only valid for cohort properties, not '${type}' properties.`,
      'invalid_operator',
    );
  }
  throw filterError(
    `The '${abbreviate(operator)}' operator is not valid for '${type}' properties.`,
    'invalid_operator',
  );
}

/** Returns what is wrong with the value, or null if the value is valid. */
function valueProblem(operator: PropertyOperator, value: unknown): string | null {
  if (numberOperators.has(operator)) {
    return typeof value === 'number' || typeof value === 'string'
      ? null
      : 'must be a number, or a string that contains a number';
  }
  if (textOperators.has(operator)) return typeof value === 'string' ? null : 'must be a string';
  return value === undefined || value === null ? 'is required' : null;
}

function checkValue(
  operator: PropertyOperator,
  value: unknown,
  { path, key, knownPatterns, tried }: PropertyRules & { key: string },
): void {
  if (dateOperators.has(operator)) {
    if (!isFilterDate(value)) throw filterError(`Invalid date value: ${abbreviate(value)}`, 'invalid_date');
    return;
  }
  const wrong = valueProblem(operator, value);
  if (wrong !== null) {
    const detail = `Invalid value for operator ${operator}: ${quoteJson(value ?? null)}. ${path}.value ${wrong}.`;
    throw filterError(detail, 'invalid_value');
  }
  if ([value].flat().some((one) => Number.isInteger(one) && !Number.isSafeInteger(one))) {
    const detail = `${path}.value: integers beyond ${Number.MAX_SAFE_INTEGER} lose precision in JSON. Send the number as a string.`;
    throw filterError(detail, 'invalid_value');
  }
  if (isSearchTextTooLong(operator, value)) {
    throw filterError(`${path}.value: must have at most ${longestNeedle} characters`, 'invalid_value');
  }
  if (Array.isArray(value) && value.length > maxValues) {
    throw filterError(`Property group expressions of type ${key} cannot contain more than ${maxValues} values.`);
  }
  if ((operator === 'regex' || operator === 'not_regex') && !knownPatterns.has(value)) {
    const pattern = String(value);
    const problem = tried.has(pattern) ? tried.get(pattern) : findPatternProblem(pattern);
    if (typeof problem === 'string') throw filterError(`${path}.value: invalid regex pattern: ${abbreviate(problem)}`);
  }
}
