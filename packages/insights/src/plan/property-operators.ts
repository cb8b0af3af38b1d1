// Translates a filter's operator and value into property tests.

import { createVersionRule } from '@millrace/flags';
import { buildReleaseKey, buildVersionKey, numberPattern } from '../event-store/dialect.ts';
import type { Condition, Property, Test } from '../event-store/selection.ts';
import { findPatternProblem } from '../patterns.ts';
import { createQueryError, isRecord } from '../query-parts.ts';
import { type Clock, dayMs, parseMoment } from './dates.ts';

const maxValues = 1000;
const longestText = 1000;

interface Place {
  path: string;
  reading: { clock: Clock };
}

export type OperatorAndValue = { operator: unknown; value: unknown };

const negative = new Set(['is_not', 'not_in', 'not_icontains', 'not_icontains_multi', 'not_regex', 'is_not_set']);
const aliases: Record<string, string> = {
  min: 'gte',
  max: 'lte',
  is_not: 'exact',
  in: 'exact',
  not_in: 'exact',
  not_icontains: 'icontains',
  icontains_multi: 'icontains',
  not_icontains_multi: 'icontains',
  not_regex: 'regex',
  is_not_set: 'is_set',
};

export const filterOperators = [
  'exact',
  'is_not',
  'in',
  'not_in',
  'icontains',
  'not_icontains',
  'icontains_multi',
  'not_icontains_multi',
  'regex',
  'not_regex',
  'gt',
  'gte',
  'lt',
  'lte',
  'min',
  'max',
  'between',
  'not_between',
  'is_date_exact',
  'is_date_before',
  'is_date_after',
  'is_set',
  'is_not_set',
  ...['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'tilde', 'caret', 'wildcard'].map((name) => `semver_${name}`),
];

export const isNegative = (operator: string): boolean => negative.has(operator);

/** Returns the positive form of a negated operator, or the current name of an outdated operator. */
export const positiveOperator = (operator: string): string =>
  (Object.hasOwn(aliases, operator) ? aliases[operator] : undefined) ?? operator;

/**
 * Translates a filter's operator and value.
 * @param operator the filter's operator, or `exact` if the filter has none
 * @throws AppError that names the field
 */
export function translateTest(
  property: Property,
  { operator = 'exact', value }: OperatorAndValue,
  place: Place,
): Condition {
  const operatorName = String(operator);
  if (!filterOperators.includes(operatorName))
    throw createQueryError(
      `${place.path}.operator`,
      `The operator "${operatorName.slice(0, 100)}" is not supported here.`,
    );
  if (property.of === 'column' && property.key === 'timestamp' && !/^is_date_/.test(operatorName))
    throw createQueryError(
      `${place.path}.operator`,
      'Compare a time with is_date_before, is_date_after or is_date_exact.',
    );
  const positive = readPositive(property, { operator: positiveOperator(operatorName), value }, place);
  return isNegative(operatorName) ? { not: positive } : positive;
}

function readPositive(
  property: Property,
  { operator, value }: { operator: string; value: unknown },
  place: Place,
): Condition {
  const { path } = place;
  const test = (one: Test): Condition => ({ property, test: one });
  const anyOf = <T>(read: (value: unknown, path: string) => T, make: (one: T) => Test): Condition => ({
    any: listValuesWithPaths(value, path).map(([one, at]) => test(make(read(one, at)))),
  });
  switch (operator) {
    case 'is_set':
      return test({ is: 'set' });
    case 'exact': {
      if (Array.isArray(value) && value.length === 0) return { all: [] };
      return test({
        is: 'equal',
        values: listValuesWithPaths(value, path).map(([one, at]) => requireText(one, at, 100_000)),
      });
    }
    case 'icontains':
      return anyOf(
        (one, at) => requireText(one, at, longestText),
        (text) => ({ is: 'containing', text }),
      );
    case 'regex':
      return anyOf(patternOf, (pattern) => ({ is: 'matching', pattern }));
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return anyOf(numberOf, (number) => ({ is: 'number', than: comparisons[operator], value: number }));
    case 'between':
    case 'not_between':
      return readBetween(property, { isInside: operator === 'between', value }, path);
    case 'is_date_before':
    case 'is_date_after':
    case 'is_date_exact':
      return readDate(property, { operator, value }, place);
    default:
      return readVersion(property, { operator, value }, path);
  }
}

const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function readBetween(
  property: Property,
  { isInside, value }: { isInside: boolean; value: unknown },
  path: string,
): Condition {
  const [least, most, ...more] = listValuesWithPaths(value, path).map(([one, at]) => numberOf(one, at));
  if (least === undefined || most === undefined || more.length > 0 || least > most) {
    throw createQueryError(`${path}.value`, 'Expected two numbers, smallest first.');
  }
  const number = (than: '>' | '>=' | '<' | '<=', bound: number): Condition => ({
    property,
    test: { is: 'number', than, value: bound },
  });
  return isInside
    ? { all: [number('>=', least), number('<=', most)] }
    : { any: [number('<', least), number('>', most)] };
}

/** Compares versions by the same rules as feature flags. */
function readVersion(
  property: Property,
  { operator, value }: { operator: string; value: unknown },
  path: string,
): Condition {
  const rule = typeof value === 'string' || typeof value === 'number' ? createVersionRule(operator, value) : null;
  if (rule === null)
    throw createQueryError(`${path}.value`, 'Expected a version such as 1.2.3, or 1.2.* for a wildcard.');
  const version = (than: Extract<Test, { is: 'version' }>['than'], key: string): Condition => ({
    property,
    test: { is: 'version', than, key },
  });
  if ('compared' in rule) return version(rule.compared, buildVersionKey(rule.bound));
  const { from, before, withPreReleases } = rule;
  const release: Condition = { property, test: { is: 'release' } };
  const isAllowed: Condition =
    // The upper bound, with `~~`, sorts after all versions with the same major, minor and patch.
    withPreReleases && from !== null ? { any: [release, version('<', `${buildReleaseKey(from)}~~`)] } : release;
  return {
    all: [
      isAllowed,
      ...(from === null ? [] : [version('>=', buildVersionKey(from))]),
      ...(before === null ? [] : [version('<', buildReleaseKey(before))]),
    ],
  };
}

/** In an exact comparison, a date without a time means the entire day. */
function readDate(
  property: Property,
  { operator, value }: OperatorAndValue,
  { path, reading: { clock } }: Place,
): Condition {
  const [first, ...more] = listValuesWithPaths(value, path);
  const text = first === undefined ? '' : requireText(first[0], first[1], 100);
  const moment = more.length > 0 ? null : parseMoment(text, clock);
  if (moment === null)
    throw createQueryError(`${path}.value`, 'Expected an ISO 8601 time, or a relative time such as -7d.');
  const time = (than: '>' | '>=' | '<' | '<=', at: number): Condition => ({
    property,
    test: { is: 'time', than, value: at, zone: clock.zoneName },
  });
  if (operator === 'is_date_before') return time('<', moment.instant);
  if (operator === 'is_date_after') return time('>', moment.instant);
  const isDay = /^\d{4}-\d{1,2}-\d{1,2}$/.test(text);
  const end = isDay ? clock.zone.toInstant(clock.zone.toWallTime(moment.instant) + dayMs) : moment.instant + 1;
  return { all: [time('>=', moment.instant), time('<', end)] };
}

/** Returns the value with its path or, for a list, each element with its path. */
export function listValuesWithPaths(value: unknown, path: string): [unknown, string][] {
  const at = `${path}.value`;
  if (!Array.isArray(value)) return [[value, at]];
  if (value.length === 0 || value.length > maxValues) throw createQueryError(at, `Expected 1 to ${maxValues} values.`);
  return value.map((one, index) => [one, `${at}.${index}`]);
}

/** Characters that the database engines cannot store. */
export const unstorableCharacters = /\0|\p{Surrogate}/u;
/** Matches the same numeric strings as the engines. */
const decimal = new RegExp(numberPattern);

export function requireText(value: unknown, path: string, longest: number): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (isRecord(value) || Array.isArray(value)) return JSON.stringify(value);
  if (typeof value !== 'string') throw createQueryError(path, 'Expected a string, number or boolean.');
  if (unstorableCharacters.test(value))
    throw createQueryError(path, 'A text cannot contain null characters or lone surrogates.');
  if (value.length > longest) throw createQueryError(path, `Ensure this field has no more than ${longest} characters.`);
  return value;
}

function numberOf(value: unknown, path: string): number {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && decimal.test(value));
  const number = isNumber ? Number(value) : Number.NaN;
  if (!Number.isFinite(number)) throw createQueryError(path, 'A valid number is required.');
  return number;
}

function patternOf(value: unknown, path: string): string {
  const pattern = requireText(value, path, longestText);
  const problem = findPatternProblem(pattern);
  if (problem !== null) throw createQueryError(path, problem);
  return pattern;
}
