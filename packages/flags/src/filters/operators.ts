import { compareDates } from './date-tests.ts';
import { exactTest } from './exact-test.ts';
import { betweenTests, compareNumbers } from './number-tests.ts';
import { patternTests } from './regex-test.ts';
import { containsAnyTest, containsTest, endsWithTest, startsWithTest } from './text-tests.ts';
import type { TestOptions, ValueTest } from './value-test.ts';
import { caretTest, compareVersionsTest, tildeTest, wildcardTest } from './version-tests.ts';

interface Operator {
  /** The outcome where the property is missing. */
  whenMissing: boolean;
  /** Prepares the test; null where the filter's value makes no sense: then no value matches. */
  prepare(expected: unknown, options: TestOptions): ValueTest | null;
}

/** Operators of property filters; cohort filters (`in`, `not_in`) and flag filters (`flag_evaluates_to`) have their own. */
const operators = {
  exact: is((expected, { matchingVersion }) => exactTest(expected, matchingVersion)),
  is_not: isNot((expected, { matchingVersion }) => not(exactTest(expected, matchingVersion))),
  is_set: is(() => () => true),
  is_not_set: isNot(() => () => false),
  icontains: is(containsTest),
  not_icontains: isNot((expected) => not(containsTest(expected))),
  icontains_multi: is(containsAnyTest),
  not_icontains_multi: isNot((expected) => not(containsAnyTest(expected))),
  starts_with: is(startsWithTest),
  not_starts_with: isNot((expected) => not(startsWithTest(expected))),
  ends_with: is(endsWithTest),
  not_ends_with: isNot((expected) => not(endsWithTest(expected))),
  regex: is((expected) => patternTests(expected).isFound),
  not_regex: isNot((expected) => patternTests(expected).isNotFound),
  gt: is((expected) => compareNumbers(expected, (value, bound) => value > bound)),
  gte: is((expected) => compareNumbers(expected, (value, bound) => value >= bound)),
  lt: is((expected) => compareNumbers(expected, (value, bound) => value < bound)),
  lte: is((expected) => compareNumbers(expected, (value, bound) => value <= bound)),
  between: is((expected) => betweenTests(expected)?.isBetween ?? null),
  not_between: isNot((expected) => betweenTests(expected)?.isNotBetween ?? null),
  is_date_before: is((expected, { zone }) => compareDates(expected, zone, (value, bound) => value < bound)),
  is_date_after: is((expected, { zone }) => compareDates(expected, zone, (value, bound) => value > bound)),
  is_date_exact: is((expected, { zone }) => compareDates(expected, zone, (value, bound) => value === bound)),
  semver_eq: is((expected) => compareVersionsTest(expected, (order) => order === 0)),
  semver_neq: is((expected) => compareVersionsTest(expected, (order) => order !== 0)),
  semver_gt: is((expected) => compareVersionsTest(expected, (order) => order > 0)),
  semver_gte: is((expected) => compareVersionsTest(expected, (order) => order >= 0)),
  semver_lt: is((expected) => compareVersionsTest(expected, (order) => order < 0)),
  semver_lte: is((expected) => compareVersionsTest(expected, (order) => order <= 0)),
  semver_tilde: is(tildeTest),
  semver_caret: is(caretTest),
  semver_wildcard: is(wildcardTest),
} satisfies Record<string, Operator>;

export type PropertyOperator = keyof typeof operators;

export const propertyOperators = Object.keys(operators) as PropertyOperator[];

export function isPropertyOperator(name: unknown): name is PropertyOperator {
  return typeof name === 'string' && Object.hasOwn(operators, name);
}

export function operatorNamed(name: PropertyOperator): Operator {
  return operators[name];
}

/** A missing property does not match. */
function is(prepare: Operator['prepare']): Operator {
  return { whenMissing: false, prepare };
}

/** A missing property matches: it is not what is denied. */
function isNot(prepare: Operator['prepare']): Operator {
  return { whenMissing: true, prepare };
}

function not(test: ValueTest): ValueTest {
  return Object.assign((value: unknown, now: number) => !test(value, now), test);
}
