// Describes and parses the query parameter `properties`, which filters lists.

import { isObject } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { type Condition, filterOperators, readPropertyFilters } from '@millrace/insights';
import { AppError, isAppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { findTimeZone } from '../../time/time-zone-store.ts';

/** A filter's `type`. It determines whose property the filter compares. */
type Owner = 'event' | 'person' | 'event_metadata';

/** Maximum number of filters per request. A list evaluates every filter for every row that it reads. */
const maxFilters = 20;
const knownFields = new Set(['key', 'value', 'operator', 'type']);

/**
 * Reads the query parameter `properties` of a list: a JSON array of `{key, value, operator, type}`, as PostHog's
 * clients send it. Returns null without any filters.
 * @param owners the allowed values of `type`. The first is the default.
 * @throws AppError `invalid` naming the position and the field of the filter, such as `properties__0__operator`
 */
export async function readListFilters(
  sql: Sql,
  projectId: number,
  { text, owners }: { text: string | undefined; owners: readonly Owner[] },
): Promise<Condition | null> {
  const filters = parseFilters(text, owners);
  if (filters.length === 0) return null;
  const of = owners[0] === 'person' ? 'persons' : 'events';
  return toCondition(filters, { of, timeZone: await findTimeZone(sql, projectId) });
}

/**
 * Reads the query parameter `properties` for events that are not joined with their persons, such as the events of a
 * live stream. A filter on persons compares the person properties that are stored in the event.
 */
export function parseStoredEventFilters(text: string | undefined, timeZone: string): Condition {
  return toCondition(parseFilters(text, ['event', 'person']), { of: 'stored events', timeZone });
}

function parseFilters(text: string | undefined, owners: readonly Owner[]): unknown[] {
  if (text === undefined || text === '') return [];
  const filters = parseArray(text);
  if (filters.length > maxFilters) throw invalid('properties', `There can be at most ${maxFilters} filters.`);
  return filters.map((filter, position) => checkFilter(filter, `properties__${position}`, owners));
}

function parseArray(text: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid('properties', `JSON parse error - ${error instanceof Error ? error.message : 'not JSON'}`);
  }
  if (Array.isArray(value)) return value;
  throw invalid('properties', 'Expected a JSON array of filters: [{"key": …, "value": …, "operator": …, "type": …}].');
}

function checkFilter(filter: unknown, attr: string, owners: readonly Owner[]): object {
  if (!isObject(filter)) throw invalid(attr, 'Expected an object with `key`, `value`, `operator` and `type`.');
  const { type = owners[0] } = filter;
  const unknown = Object.keys(filter).find((field) => !knownFields.has(field));
  if (unknown !== undefined) {
    throw invalid(
      `${attr}__${unknown.slice(0, 100)}`,
      'Unknown field. A filter can only have `key`, `value`, `operator` and `type`.',
    );
  }
  if (owners.every((owner) => owner !== type)) {
    throw invalid(`${attr}__type`, `Expected ${owners.join(' or ')}. Other types are not supported here.`);
  }
  return { ...filter, type };
}

function toCondition(
  filters: unknown[],
  { of, timeZone }: { of: 'events' | 'stored events' | 'persons'; timeZone: string },
): Condition {
  try {
    return readPropertyFilters(filters, { of, timeZone, now: Date.now() });
  } catch (error) {
    const [, path = '', detail = ''] = (isAppError(error, 'invalid') && /^([^:]+): (.*)$/s.exec(error.message)) || [];
    if (path === '') throw error;
    throw new AppError('invalid', detail, { attr: path.replaceAll('.', '__'), cause: error });
  }
}

const invalid = (attr: string, detail: string) => new AppError('invalid', detail, { attr });

/**
 * Returns the schema of the query parameter `properties`.
 * @param owners the allowed values of `type`. The first is the default.
 */
export function propertiesQuerySchema(owners: readonly Owner[]) {
  return Type.Optional(
    Type.String({
      description:
        'Property filters as a JSON array, such as `[{"key": "$browser", "value": ["Chrome", "Safari"], ' +
        '"operator": "exact", "type": ' +
        `"${owners[0]}"}]\`. All filters must match. \`type\` is ${owners.map((owner) => `\`${owner}\``).join(' or ')} (default: ` +
        `\`${owners[0]}\`). ${owners.includes('event_metadata') ? '`event_metadata` with the key `event` filters by event name. ' : ''}` +
        `\`operator\` is one of ${filterOperators.map((operator) => `\`${operator}\``).join(', ')} (default: ` +
        `\`exact\`). If a filter has several values, one of them must match. Search strings can have at most ${longestNeedle} characters. ` +
        'Regular expressions use RE2 syntax and can have at most 200 characters; the only supported flag is a ' +
        'leading `(?i)`. Times are ISO 8601, in the project time zone unless they have an offset, or relative, such ' +
        'as `-7d`.',
    }),
  );
}
