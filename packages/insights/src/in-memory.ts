// Evaluates conditions for a single event in memory, with the same results as in SQL.

import { compileTest, PropertyValue, parseVersion, toComparableText } from '@millrace/flags';
import { createTimeZone, type TimeZone } from '@millrace/schedule';
import {
  buildVersionKey,
  localTimePattern,
  numberPattern,
  splitNumbersAndLists,
  zonedTimePattern,
} from './event-store/dialect.ts';
import type { Comparison, Condition, Property, Test } from './event-store/selection.ts';
import { parseAbsoluteTime } from './plan/dates.ts';

/** An event that is not stored yet, with its person at ingestion. */
export interface EventInMemory {
  event: string | null;
  distinctId: string | null;
  properties: Record<string, unknown>;
  personProperties: Record<string, unknown>;
}

type Matches = (event: EventInMemory) => boolean;

/**
 * Compiles a condition on events. Properties that an event in memory lacks, such as group properties, count as not set.
 */
export function compileInMemoryCondition(condition: Condition): Matches {
  if ('all' in condition) {
    const all = condition.all.map(compileInMemoryCondition);
    return (event) => all.every((matches) => matches(event));
  }
  if ('any' in condition) {
    const any = condition.any.map(compileInMemoryCondition);
    return (event) => any.some((matches) => matches(event));
  }
  if ('not' in condition) {
    const matches = compileInMemoryCondition(condition.not);
    return (event) => !matches(event);
  }
  if ('anyDistinctId' in condition) {
    const test = matchesValue(condition.anyDistinctId);
    return ({ distinctId }) => test(distinctId);
  }
  if (!('property' in condition)) return () => false;
  const { property } = condition;
  const test = matchesValue(condition.test);
  return (event) => test(readProperty(event, property));
}

function readProperty(event: EventInMemory, { of, key }: Property): unknown {
  if (of === 'column') return { event: event.event, distinct_id: event.distinctId }[String(key)] ?? null;
  const properties = of === 'event' ? event.properties : of === 'group' ? {} : event.personProperties;
  return Object.hasOwn(properties, key) ? properties[key] : null;
}

function matchesValue(test: Test): (value: unknown) => boolean {
  const matches = matchesSetValue(test);
  return (value) => value !== null && value !== undefined && matches(value);
}

function matchesSetValue(test: Test): (value: unknown) => boolean {
  switch (test.is) {
    case 'set':
      return () => true;
    case 'equal':
      return equalsAny(test.values);
    case 'containing': {
      const isFound = flagTest('icontains', test.text.toLowerCase());
      return (value) => isFound(textOf(value).toLowerCase());
    }
    case 'matching': {
      // In filter patterns, a dot matches any character, including line breaks.
      const [flags = ''] = /^\(\?i\)/.exec(test.pattern) ?? [];
      const isFound = flagTest('regex', `${flags}(?s)${test.pattern.slice(flags.length)}`);
      return (value) => isFound(textOf(value));
    }
    case 'number':
      return (value) => {
        const number =
          typeof value === 'number' ? value : numericText.test(toComparableText(value)) ? Number(value) : null;
        return number !== null && compare(number, test.than, test.value);
      };
    case 'version':
      return (value) => {
        const version = parseVersion(value);
        if (version === null) return false;
        const key = buildVersionKey(version);
        if (test.than === '=' || test.than === '<>') return (key === test.key) === (test.than === '=');
        return compare(Buffer.compare(Buffer.from(key), Buffer.from(test.key)), test.than, 0);
      };
    case 'release':
      return (value) => parseVersion(value)?.preRelease.length === 0;
    case 'time': {
      const zone = createTimeZone(test.zone);
      return (value) => {
        const time = timeOf(value, zone);
        return time !== null && compare(time, test.than, test.value);
      };
    }
    default:
      return test satisfies never;
  }
}

/** Formats a value as text in the same way as the engines. */
const textOf = (value: unknown) =>
  typeof value === 'number' ? String(value).replace('e+', 'e') : toComparableText(value);

/** Creates a test for a flag operator. The test's running time is proportional to the length of the string. */
function flagTest(operator: 'icontains' | 'regex', expected: string): (text: string) => boolean {
  const { test } = compileTest(operator, expected, { matchingVersion: 2, zone: createTimeZone('UTC') });
  return (text) => test.matches(new PropertyValue(text), 0);
}

function compare(value: number, than: Comparison, bound: number): boolean {
  if (than === '>') return value > bound;
  if (than === '>=') return value >= bound;
  return than === '<' ? value < bound : value <= bound;
}

/**
 * Compares values as text, with two exceptions: a number also equals its other notations, and a list or object equals
 * the same JSON in any notation.
 */
function equalsAny(values: readonly string[]): (value: unknown) => boolean {
  const texts = new Set(values);
  const { numbers, lists } = splitNumbersAndLists(values);
  const ofNumbers = new Set(numbers.map(Number));
  const ofLists = new Set(lists.map((list) => toComparableText(JSON.parse(list))));
  return (value) => {
    if (typeof value === 'object') return ofLists.has(toComparableText(value));
    return texts.has(toComparableText(value)) || (typeof value === 'number' && ofNumbers.has(value));
  };
}

/** Converts a time to milliseconds since the epoch. A number can be in seconds or milliseconds since the epoch. */
function timeOf(value: unknown, zone: TimeZone): number | null {
  if (typeof value === 'number') {
    if (Math.abs(value) < 1e11) return Math.trunc(value * 1000);
    return Math.abs(value) < 1e14 ? Math.trunc(value) : null;
  }
  const isTime = typeof value === 'string' && (localTime.test(value) || zonedTime.test(value));
  return isTime ? parseAbsoluteTime(value, zone) : null;
}

const numericText = new RegExp(numberPattern);
const localTime = new RegExp(localTimePattern);
const zonedTime = new RegExp(zonedTimePattern);
