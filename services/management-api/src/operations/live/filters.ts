// The filter of a live event stream.

import { isObject } from '@millrace/contracts';
import { compileTest, PropertyValue, patternProblem } from '@millrace/flags';
import { timeZone } from '@millrace/schedule';
import { type Static, Type } from 'typebox';
import { parsePropertyFilters } from '../../analytics/property-filters/parse-property-filters.ts';
import type { PropertyFilter } from '../../analytics/property-filters/property-filter.ts';
import type { LiveEvent } from './source.ts';

const names = (description: string) => Type.Optional(Type.String({ maxLength: 4000, description }));

export const streamQuery = Type.Object({
  eventType: names('Only events with one of these names, separated by commas. If empty, all events are included.'),
  notEventType: names('Excludes events with one of these names, separated by commas.'),
  distinctId: names('Only events with this distinct ID. If empty, all events are included.'),
  properties: Type.Optional(
    Type.String({
      description:
        'JSON array of `{key, value, operator, type}` filters. Only events that match all of them are included. The format is the same as for listing events.',
    }),
  ),
  columns: names(
    'Names of the properties to include, separated by commas. If empty, no properties are included. By default, all are included.',
  ),
  internal: Type.Optional(
    Type.Boolean({
      description:
        "If false, leaves out events from internal and test users, as defined by the environment's `test_account_filters`.",
    }),
  ),
  historical: Type.Optional(Type.Boolean({ description: 'If true, includes events from historical migrations.' })),
  geo: names(
    '`true` or `1` requests locations instead of events. Millrace does not provide location data, so the stream sends no ' +
      'events and explains this in its first message.',
  ),
});

export interface StreamFilter {
  passes(event: LiveEvent): boolean;
  /** The properties in the messages; null for all. */
  columns: string[] | null;
  showsPlaces: boolean;
  /** The number of filters for internal users that cannot be evaluated on a single event, e.g. those with cohorts. */
  ignoredFilters: number;
}

/** @throws AppError `invalid` naming the parameter. */
export function readStreamFilter(query: Static<typeof streamQuery>, testAccountFilters: unknown): StreamFilter {
  const wanted = new Set(listOf(query.eventType));
  const unwanted = new Set(listOf(query.notEventType));
  const propertyFilters = parsePropertyFilters(query.properties, ['event', 'person'], readPattern);
  const internal = query.internal === false ? readTestAccountFilters(testAccountFilters) : { filters: [], ignored: 0 };
  const tests = propertyFilters.map(propertyTest);
  const outsideTests = internal.filters.map(propertyTest);
  const { distinctId = '', historical = false } = query;
  const showsPlaces = query.geo === 'true' || query.geo === '1';
  return {
    columns: query.columns === undefined ? null : listOf(query.columns),
    showsPlaces,
    ignoredFilters: internal.ignored,
    passes(event) {
      if (showsPlaces || (event.isHistorical && !historical)) return false;
      if (wanted.size > 0 && !wanted.has(event.event ?? '')) return false;
      if (event.event !== null && unwanted.has(event.event)) return false;
      if (distinctId !== '' && event.distinctId !== distinctId) return false;
      // The properties of a dropped event are unknown, so it matches no property filter.
      if (event.isDrop) return tests.length === 0;
      return tests.every((test) => test(event)) && outsideTests.every((test) => test(event));
    },
  };
}

const listOf = (text = '') => text.split(',').filter((name) => name !== '');

/** Patterns use the syntax of RE2: they run in linear time, and their size is limited (packages/flags). */
function readPattern(text: string): { pattern: string } | { problem: string } {
  const problem = text === '' ? 'empty' : patternProblem(text);
  return problem === null ? { pattern: text } : { problem: `The regular expression is not supported: ${problem}.` };
}

/**
 * The environment's filters for internal users, as far as they can be evaluated on a single event. Filters without a type are
 * about the event.
 */
function readTestAccountFilters(stored: unknown): { filters: PropertyFilter[]; ignored: number } {
  const all = Array.isArray(stored) ? stored : [];
  const filters = all.flatMap((filter) => {
    if (!isObject(filter)) return [];
    const { key, value, operator, type } = filter;
    try {
      return parsePropertyFilters(
        JSON.stringify([{ key, value, operator: operator ?? 'exact', type: type ?? 'event' }]),
        [...(['event', 'person'] as const)],
        readPattern,
      );
    } catch {
      return [];
    }
  });
  return { filters, ignored: all.length - filters.length };
}

type PropertyTest = (event: Pick<LiveEvent, 'properties' | 'personProperties'>) => boolean;

const denying = new Set(['is_not', 'not_in', 'not_icontains', 'not_regex', 'is_not_set']);

/** As in event lists, null counts as no value, and negated operators match events without the property. */
function propertyTest({ owner, key, operator, values }: PropertyFilter): PropertyTest {
  const isDenying = denying.has(operator);
  const holds = valueTest(operator, values);
  return ({ properties, personProperties }) => {
    const from = owner === 'person' ? personProperties : properties;
    const value = Object.hasOwn(from, key) ? from[key] : null;
    return value === null ? isDenying : holds(value);
  };
}

function valueTest(operator: PropertyFilter['operator'], values: string[]): (value: unknown) => boolean {
  switch (operator) {
    case 'is_set':
      return () => true;
    case 'is_not_set':
      return () => false;
    case 'exact':
    case 'in':
      return (value) => values.some((wanted) => isEqual(value, wanted));
    case 'is_not':
    case 'not_in':
      return (value) => !values.some((wanted) => isEqual(value, wanted));
    default: {
      const options = { matchingVersion: 2, zone: timeZone('UTC') } as const;
      const tests = values.map((expected) => compileTest(operator, expected, options).test);
      return (value) => {
        const [shown, now] = [new PropertyValue(value), Date.now()];
        return denying.has(operator)
          ? tests.every((test) => test.matches(shown, now))
          : tests.some((test) => test.matches(shown, now));
      };
    }
  }
}

/** Compares with the text of the value. Numbers also match other notations of the same number. */
function isEqual(value: unknown, wanted: string): boolean {
  if (typeof value === 'string') return value === wanted;
  if (typeof value === 'number') return String(value) === wanted || (wanted.trim() !== '' && Number(wanted) === value);
  return (typeof value === 'boolean' ? String(value) : JSON.stringify(value)) === wanted;
}
