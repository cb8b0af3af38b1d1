// The `properties` parameter of lists: its description and its parsing, patterns included.

import { isObject } from '@millrace/contracts';
import { patternProblem, postgresPattern } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { requireTime } from '../../time/relative-time.ts';
import {
  comparedAs,
  longestNeedle,
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
  if (filters.length > maxFilters) throw invalid([], `There may be ${maxFilters} filters at most.`);
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
  if (!isObject(filter)) throw invalid([position], 'Expected an object with key, value, operator and type.');
  const { key, value, operator = 'exact', type = owners[0] } = filter;
  const unknown = Object.keys(filter).find((field) => !knownFields.has(field));
  if (unknown !== undefined) {
    throw invalid([position, unknown.slice(0, 100)], 'A filter has key, value, operator and type, and nothing else.');
  }
  if (typeof key !== 'string' || key === '' || key.length > maxKeyLength || key.includes('\0')) {
    throw invalid([position, 'key'], `Expected the name of a property, ${maxKeyLength} characters at most.`);
  }
  const owner = propertyOwners.find((candidate) => candidate === type);
  if (owner === undefined || !owners.includes(owner)) {
    throw invalid([position, 'type'], `Expected ${owners.join(' or ')}; other types are not supported here.`);
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
    throw invalid(path, `${operator} compares with one value.`);
  return given.map((one, index) => {
    const position = isList ? [...path, String(index)] : path;
    const text = toText(one, position);
    switch (kind) {
      case 'text':
        return text;
      case 'part':
        if (text.length <= longestNeedle) return text;
        throw invalid(position, `A text to be looked for has at most ${longestNeedle} characters.`);
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
  throw invalid(path, 'Expected a text, a number, true or false, or a list of them.');
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
      description: `Only what meets all these filters: a JSON array of \`{"key": "$browser", "value": ["Chrome", "Safari"], "operator": "exact", "type": "${owners[0]}"}\`. \`type\`: ${owners.map((owner) => `\`${owner}\``).join(' or ')} (\`${owners[0]}\` if absent). \`operator\`: ${propertyOperators.map((operator) => `\`${operator}\``).join(', ')} (\`exact\` if absent). Of several values any one will do. Texts to be contained have ${longestNeedle} characters at most. Regular expressions are those of RE2 without flags but a leading \`(?i)\`, 200 characters at most; times are ISO 8601 or relative (\`-7d\`).`,
    }),
  );
}
