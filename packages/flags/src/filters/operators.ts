// All operators of property filters, such as `exact` and `is_set`, and their tests.

import { toComparableNumber, toComparableText } from '../values.ts';
import { createDateTest } from './date-operators.ts';
import {
  createContainsAnyTest,
  createContainsTest,
  createEndsWithTest,
  createExactTest,
  createPatternTests,
  createStartsWithTest,
  longestNeedle,
} from './text-operators.ts';
import { type CompiledTest, createFixedCostTest, never, type TestOptions, type ValueTest } from './value-operators.ts';
import { createVersionTest, type VersionOperator } from './version-operators.ts';

interface Operator {
  whenMissing: boolean;
  /** Prepares the test for a filter's value. Returns null if the value is invalid and matches nothing. */
  prepare(expected: unknown, options: TestOptions): ValueTest | null;
}

/**
 * Operators of property filters. Cohort filters (`in`, `not_in`) and flag filters (`flag_evaluates_to`) have their own
 * operators.
 */
const operators = {
  exact: is((expected, { matchingVersion }) => createExactTest(expected, matchingVersion)),
  is_not: isNot((expected, { matchingVersion }) => not(createExactTest(expected, matchingVersion))),
  is_set: is(() => createFixedCostTest(() => true)),
  is_not_set: isNot(() => createFixedCostTest(() => false)),
  icontains: is(createContainsTest),
  not_icontains: isNot((expected) => not(createContainsTest(expected))),
  icontains_multi: is(createContainsAnyTest),
  not_icontains_multi: isNot((expected) => not(createContainsAnyTest(expected))),
  starts_with: is(createStartsWithTest),
  not_starts_with: isNot((expected) => not(createStartsWithTest(expected))),
  ends_with: is(createEndsWithTest),
  not_ends_with: isNot((expected) => not(createEndsWithTest(expected))),
  regex: is((expected) => createPatternTests(expected).isFound),
  not_regex: isNot((expected) => createPatternTests(expected).isNotFound),
  gt: is((expected) => compareNumbers(expected, (value, bound) => value > bound)),
  gte: is((expected) => compareNumbers(expected, (value, bound) => value >= bound)),
  lt: is((expected) => compareNumbers(expected, (value, bound) => value < bound)),
  lte: is((expected) => compareNumbers(expected, (value, bound) => value <= bound)),
  between: is((expected) => betweenTests(expected)?.isBetween ?? null),
  not_between: isNot((expected) => betweenTests(expected)?.isNotBetween ?? null),
  is_date_before: is((expected, { zone }) => createDateTest(expected, zone, (value, bound) => value < bound)),
  is_date_after: is((expected, { zone }) => createDateTest(expected, zone, (value, bound) => value > bound)),
  is_date_exact: is((expected, { zone }) => createDateTest(expected, zone, (value, bound) => value === bound)),
  semver_eq: ofVersion('semver_eq'),
  semver_neq: ofVersion('semver_neq'),
  semver_gt: ofVersion('semver_gt'),
  semver_gte: ofVersion('semver_gte'),
  semver_lt: ofVersion('semver_lt'),
  semver_lte: ofVersion('semver_lte'),
  semver_tilde: ofVersion('semver_tilde'),
  semver_caret: ofVersion('semver_caret'),
  semver_wildcard: ofVersion('semver_wildcard'),
} satisfies Record<string, Operator>;

export type PropertyOperator = keyof typeof operators;

export const propertyOperators = Object.keys(operators) as PropertyOperator[];

export function isPropertyOperator(name: unknown): name is PropertyOperator {
  return typeof name === 'string' && Object.hasOwn(operators, name);
}

function operatorNamed(name: PropertyOperator): Operator {
  return operators[name];
}

const searching = new Set<PropertyOperator>([
  ...(['icontains', 'not_icontains', 'icontains_multi', 'not_icontains_multi'] as const),
  ...(['starts_with', 'not_starts_with', 'ends_with', 'not_ends_with', 'regex', 'not_regex'] as const),
]);

/**
 * Returns whether a filter's search text is so long that the filter would never match. Used to validate flags and
 * cohorts.
 */
export function isSearchTextTooLong(operator: PropertyOperator, value: unknown): boolean {
  const needles = Array.isArray(value) ? value : [value];
  return searching.has(operator) && needles.some((needle) => toComparableText(needle).length > longestNeedle);
}

/** Creates an operator whose test fails for a missing property. */
function is(prepare: Operator['prepare']): Operator {
  return { whenMissing: false, prepare };
}

/** Creates an operator that compares versions as defined by semver.org. */
function ofVersion(operator: VersionOperator): Operator {
  return is((expected) => createVersionTest(operator, expected));
}

/** Creates a negated operator, whose test passes for a missing property. */
function isNot(prepare: Operator['prepare']): Operator {
  return { whenMissing: true, prepare };
}

function not(test: ValueTest | null): ValueTest | null {
  return test && { matches: (value, now) => !test.matches(value, now), stepsFor: (length) => test.stepsFor(length) };
}

/** Names that older clients use for some operators. */
const aliases: Record<string, string> = { min: 'gte', max: 'lte' };

/**
 * Prepares a property filter's operator and value.
 * @param operator the operator, where null and undefined mean `exact`, and an unknown operator matches nothing
 * @param expected the filter's value. Without it, only `is_set` and `is_not_set` can match.
 */
export function compileTest(operator: unknown, expected: unknown, options: TestOptions): CompiledTest {
  const operatorName = operator ?? 'exact';
  const name =
    (typeof operatorName === 'string' && Object.hasOwn(aliases, operatorName) ? aliases[operatorName] : undefined) ??
    operatorName;
  if (!isPropertyOperator(name)) return never;
  const needsValue = name !== 'is_set' && name !== 'is_not_set';
  if (needsValue && (expected === null || expected === undefined)) return never;
  const { prepare, whenMissing } = operatorNamed(name);
  return { test: prepare(expected, options) ?? never.test, whenMissing };
}

type Comparison = (value: number, expected: number) => boolean;

/** Creates a test that compares numbers. Returns null if the filter's value is not a number. */
function compareNumbers(expected: unknown, holds: Comparison): ValueTest | null {
  const bound = toComparableNumber(expected);
  if (bound === null) return null;
  return createFixedCostTest(({ number }) => number !== null && holds(number, bound));
}

/**
 * Builds the comparisons with a range that includes both bounds. Returns null unless the filter's value consists of two
 * numbers in ascending order.
 */
function betweenTests(expected: unknown): { isBetween: ValueTest; isNotBetween: ValueTest } | null {
  if (!Array.isArray(expected) || expected.length !== 2) return null;
  const [low, high] = expected.map(toComparableNumber);
  if (low === null || low === undefined || high === null || high === undefined || low > high) return null;
  return {
    isBetween: createFixedCostTest(({ number }) => isWithin(number, low, high) === true),
    isNotBetween: createFixedCostTest(({ number }) => isWithin(number, low, high) === false),
  };
}

/** Returns whether a number is within the range. Returns null if the number is null. */
function isWithin(number: number | null, low: number, high: number): boolean | null {
  return number === null ? null : low <= number && number <= high;
}
