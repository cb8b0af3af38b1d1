import { isObject } from '@millrace/contracts';
import { type Condition, compileInMemoryCondition } from '@millrace/insights';
import { type Static, Type } from 'typebox';
import { parseStoredEventFilters } from '../../analytics/property-filters/parse-property-filters.ts';
import type { GrantedAccess } from './access.ts';
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
  /** The properties to include in messages, or null for all properties. */
  columns: string[] | null;
  showsPlaces: boolean;
  /** The number of internal user filters that cannot be evaluated for a single event, such as filters with cohorts. */
  ignoredFilters: number;
}

/** Reads a stream's filter from the query parameters. @throws AppError `invalid` naming the parameter */
export function readStreamFilter(
  query: Static<typeof streamQuery>,
  { testAccountFilters, timeZone }: Pick<GrantedAccess, 'testAccountFilters' | 'timeZone'>,
): StreamFilter {
  const wanted = new Set(listOf(query.eventType));
  const unwanted = new Set(listOf(query.notEventType));
  const own = parseStoredEventFilters(query.properties, timeZone);
  const isUnfiltered = 'all' in own && own.all.length === 0;
  const internal =
    query.internal === false ? readTestAccountFilters(testAccountFilters, timeZone) : { filters: [], ignored: 0 };
  const matches = compileInMemoryCondition({ all: [own, ...internal.filters] });
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
      // The properties of a dropped event are unknown, so it never matches a property filter.
      return event.isDrop ? isUnfiltered : matches(event);
    },
  };
}

const listOf = (text = '') => text.split(',').filter((name) => name !== '');

/**
 * Reads the environment's filters for internal users. Skips filters that cannot be evaluated on a single event. A
 * filter without a type is about the event.
 */
function readTestAccountFilters(stored: unknown, timeZone: string): { filters: Condition[]; ignored: number } {
  const all = Array.isArray(stored) ? stored : [];
  const filters = all.flatMap((filter) => {
    if (!isObject(filter)) return [];
    const { key, value, operator, type } = filter;
    try {
      return parseStoredEventFilters(JSON.stringify([{ key, value, operator, type }]), timeZone);
    } catch {
      return [];
    }
  });
  return { filters, ignored: all.length - filters.length };
}
