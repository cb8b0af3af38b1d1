// The `properties` parameter of lists: its description and its parsing, patterns included.

import { isObject } from '@millrace/contracts';
import { patternProblem, postgresPattern } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { requireTime } from '../../time/relative-time.ts';
import {
  comparedAs,
  type PropertyFilter,
  type PropertyOperator,
  type PropertyOwner,
  propertyOperators,
  propertyOwners,
} from './property-filter.ts';

/** Each is looked at for every row a list walks past. */
const maxFilters = 20;
const maxValues = 100;
const maxKeyLength = 400;
const knownFields = new Set(['key', 'value', 'operator', 'type']);

/**
 * Reads the query parameter `properties`: a JSON array of `{key, value, operator, type}` as PostHog's clients send it.
 *
 * @param owners whose properties the list can filter by, the one that is meant without `type` first.
 * @param readPattern a regular expression as whoever looks for it takes it; PostgreSQL by default.
 * @throws AppError `invalid` naming the filter by its position in the array and its field, `properties__0__operator`.
 */
export function parsePropertyFilters(
  text: string | undefined,
  owners: readonly PropertyOwner[],
  readPattern: ReadPattern = toPostgresPattern,
): PropertyFilter[] {
  if (text === undefined || text === '') return [];
  const filters = parseArray(text);
  if (filters.length > maxFilters) throw invalid([], `There can be at most ${maxFilters} filters.`);
  const now = new Date();
  return filters.map((filter, index) => parseFilter(filter, { position: String(index), owners, now, readPattern }));
}

/** The pattern, or a sentence on what is wrong with it. */
type ReadPattern = (text: string) => { pattern: string } | { problem: string };

function parseArray(text: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid([], `JSON parse error - ${error instanceof Error ? error.message : 'not JSON'}`);
  }
  if (Array.isArray(value)) return value;
  throw invalid([], 'Expected a JSON array of filters: [{"key": …, "value": …, "operator": …, "type": …}].');
}

function parseFilter(
  filter: unknown,
  {
    position,
    owners,
    ...reading
  }: { position: string; owners: readonly PropertyOwner[]; now: Date; readPattern: ReadPattern },
): PropertyFilter {
  if (!isObject(filter)) throw invalid([position], 'Expected an object with `key`, `value`, `operator` and `type`.');
  const { key, value, operator = 'exact', type = owners[0] } = filter;
  const unknown = Object.keys(filter).find((field) => !knownFields.has(field));
  if (unknown !== undefined) {
    throw invalid(
      [position, unknown.slice(0, 100)],
      'Unknown field. A filter can only have `key`, `value`, `operator` and `type`.',
    );
  }
  if (typeof key !== 'string' || key === '' || key.length > maxKeyLength || key.includes('\0')) {
    throw invalid([position, 'key'], `Expected a property name of at most ${maxKeyLength} characters.`);
  }
  const owner = propertyOwners.find((candidate) => candidate === type);
  if (owner === undefined || !owners.includes(owner)) {
    throw invalid([position, 'type'], `Expected ${owners.join(' or ')}. Other types are not supported here.`);
  }
  if (owner === 'event_metadata' && key !== 'event') {
    throw invalid([position, 'key'], 'Expected `event`: filters of the type `event_metadata` look at the event name.');
  }
  const known = propertyOperators.find((candidate) => candidate === operator);
  if (known === undefined) throw invalid([position, 'operator'], `Expected one of ${propertyOperators.join(', ')}.`);
  return { owner, key, operator: known, values: parseValues(known, value, { path: [position, 'value'], ...reading }) };
}

function parseValues(
  operator: PropertyOperator,
  value: unknown,
  { path, now, readPattern }: { path: string[]; now: Date; readPattern: ReadPattern },
): string[] {
  const kind = comparedAs(operator);
  if (kind === 'nothing') return [];
  const isList = Array.isArray(value);
  const given: unknown[] = isList ? value : [value];
  if (given.length === 0 || given.length > maxValues) throw invalid(path, `Expected 1 to ${maxValues} values.`);
  if (isList && given.length > 1 && kind !== 'text' && kind !== 'part')
    throw invalid(path, `The operator ${operator} requires a single value.`);
  return given.map((one, index) => {
    const position = isList ? [...path, String(index)] : path;
    const text = toText(one, position);
    switch (kind) {
      case 'text':
        return text;
      case 'part':
        if (text.length <= longestNeedle) return text;
        throw invalid(position, `The search string must have at most ${longestNeedle} characters.`);
      case 'number':
        if (/^\s*[-+]?\d{1,30}(\.\d{1,30})?\s*$/.test(text)) return text.trim();
        throw invalid(position, 'A valid number is required.');
      case 'time':
        return requireTime(text, attrOf(position), now).toISOString();
      case 'pattern': {
        const translated = readPattern(text);
        if ('pattern' in translated) return translated.pattern;
        throw invalid(position, translated.problem);
      }
      default:
        return kind satisfies never;
    }
  });
}

/** Properties are compared as the texts they are shown as: `5` finds 5 and "5". */
function toText(value: unknown, path: string[]): string {
  if (typeof value === 'string' && !/\0|\p{Surrogate}/u.test(value)) return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw invalid(path, 'Expected a string, number or boolean, or a list of these.');
}

const attrOf = (path: string[]) => ['properties', ...path].join('__');

function invalid(path: string[], detail: string): AppError {
  return new AppError('invalid', detail, { attr: attrOf(path) });
}

/** A regular expression as PostgreSQL reads it, or a sentence on what is wrong with it. */
function toPostgresPattern(text: string): ReturnType<ReadPattern> {
  const problem = patternProblem(text);
  return problem === null ? { pattern: postgresPattern(text) } : { problem };
}

/** The query parameter `properties` of a list that can be filtered by the properties of these. */
export function propertiesQuery(owners: readonly PropertyOwner[]) {
  return Type.Optional(
    Type.String({
      description:
        'Property filters as a JSON array, such as `[{"key": "$browser", "value": ["Chrome", "Safari"], ' +
        '"operator": "exact", "type": ' +
        `"${owners[0]}"}]\`. All filters must match. \`type\` is ${owners.map((owner) => `\`${owner}\``).join(' or ')} (default: ` +
        `\`${owners[0]}\`). ${owners.includes('event_metadata') ? '`event_metadata` with the key `event` filters by event name. ' : ''}` +
        `\`operator\` is one of ${propertyOperators.map((operator) => `\`${operator}\``).join(', ')} (default: ` +
        `\`exact\`). If a filter has several values, one of them must match. Search strings can have at most ${longestNeedle} characters. ` +
        'Regular expressions use RE2 syntax and can have at most 200 characters; the only supported flag is a ' +
        'leading `(?i)`. Times ' +
        'are ISO 8601 or relative, such as `-7d`.',
    }),
  );
}
