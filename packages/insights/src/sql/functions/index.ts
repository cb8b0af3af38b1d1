// Looks up functions by the name that a query uses.

import { aggregateFunctions, windowFunctions } from './aggregates.ts';
import type { SqlFunction } from './define.ts';
import { jsonFunctions } from './json.ts';
import { listFunctions } from './lists.ts';
import { numberFunctions } from './numbers.ts';
import { textFunctions } from './texts.ts';
import { timeFunctions } from './times.ts';

function byName(functions: readonly SqlFunction[]): ReadonlyMap<string, readonly SqlFunction[]> {
  const found = new Map<string, SqlFunction[]>();
  for (const one of functions) found.set(one.name, [...(found.get(one.name) ?? []), one]);
  return found;
}

export const scalars = byName([
  ...numberFunctions,
  ...textFunctions,
  ...timeFunctions,
  ...jsonFunctions,
  ...listFunctions,
]);
export const aggregates = byName(aggregateFunctions);
export const windows = byName(windowFunctions);

/** Functions that the resolver handles itself, with their minimum and maximum number of arguments. */
export const resolverFunctions: ReadonlyMap<string, readonly [number, number]> = new Map([
  ...entries(['now', 'today', 'yesterday'], [0, 0]),
  ...entries(['if', 'dateDiff', 'date_diff', 'age', 'dateAdd', 'date_add', 'dateSub', 'date_sub'], [3, 3]),
  ...entries(['multiIf', '_caseWithExpression'], [3, 199]),
  ...entries(['coalesce', 'least', 'greatest', 'and', 'or'], [1, 100]),
  ...entries(['ifNull', 'nullIf', 'dateTrunc', 'date_trunc', 'toTimeZone', 'toStartOfInterval'], [2, 2]),
  ...entries(['isNull', 'isNotNull', 'not', 'toString', 'toFloat', 'toInt', 'toBool', 'toUUID', 'arrayJoin'], [1, 1]),
  ...entries(['toStartOfWeek', 'toWeek', 'range', 'toDateTime', 'parseDateTimeBestEffort'], [1, 2]),
  ...entries(['toFloatOrZero', 'toIntOrZero', 'assumeNotNull', 'toNullable', 'toTypeName'], [1, 1]),
  ...entries(['in', 'notIn', 'notILike'], [2, 2]),
  ...entries(['toStartOfFiveMinutes', 'toStartOfTenMinutes', 'toStartOfFifteenMinutes', 'timeSlot'], [1, 1]),
  ...entries(['tuple', 'array'], [0, 100]),
  ...entries(['format'], [1, 100]),
  ...entries(['splitByRegexp'], [2, 2]),
  ...entries(['transform'], [4, 4]),
  ...entries(['JSONExtract', 'JSONExtractKeysAndValues'], [2, 12]),
  ...entries(['arrayZip'], [2, 100]),
  ...entries(['arrayReverseSort'], [1, 100]),
  ...entries(['arrayReduce', 'tupleElement', 'arrayElement'], [2, 2]),
  ...entries(['parseDateTime'], [2, 3]),
  ...entries(['languageCodeToName'], [1, 1]),
  ...entries(['equals', 'notEquals', 'less', 'lessOrEquals', 'greater', 'greaterOrEquals', 'notLike'], [2, 2]),
]);

/** Alternative names of aggregates, and the aggregates that they stand for. */
export const aggregateAliases: ReadonlyMap<string, string> = new Map([
  ['uniq', 'uniqExact'],
  ['countDistinct', 'uniqExact'],
  ['any', 'min'],
  ['anyLast', 'max'],
  ['median', 'quantile'],
]);

const unitFunctions = ['Second', 'Minute', 'Hour', 'Day', 'Week', 'Month', 'Quarter', 'Year'].flatMap((unit) => [
  `toInterval${unit}`,
  `add${unit}s`,
  `subtract${unit}s`,
]);

/** Matches the names of functions that only the resolver uses, and that queries cannot call. */
const internal =
  /^(\w+_\w+|to(Monday|Sunday|StartOfMinutes|StartOfDays)|propertyText|JSONExtract(KeysAnd)?Texts|languageName|sumOrZero|maxBesidesNan)$/;
export const isInternal = (name: string) => internal.test(name) && (scalars.has(name) || aggregates.has(name));

const publicNames: readonly string[] = [
  ...[...scalars.keys(), ...aggregates.keys()].filter((name) => !isInternal(name)),
  ...aggregateAliases.keys(),
  ...windows.keys(),
  ...resolverFunctions.keys(),
  ...unitFunctions,
];

/** Lists the functions that a query can call, in alphabetical order. */
export function describeFunctions(): { name: string; type: 'scalar' | 'aggregate' | 'window' }[] {
  const typeOf = (name: string) => {
    const base = name.replace(/If$/, '');
    if (aggregates.has(base) || aggregateAliases.has(base)) return 'aggregate';
    return windows.has(name) ? 'window' : 'scalar';
  };
  const names = new Set(publicNames.filter((name) => !name.startsWith('_')));
  for (const name of [...names]) if (typeOf(name) === 'aggregate') names.add(`${name}If`);
  return [...names].sort().map((name) => ({ name, type: typeOf(name) }));
}

const inAnyCase = new Map(
  [
    'count',
    'min',
    'max',
    'sum',
    'avg',
    'coalesce',
    'ifNull',
    'nullIf',
    'if',
    'not',
    'lower',
    'upper',
    'concat',
    'substring',
    'replace',
    'position',
    'extract',
    'trim',
    'now',
    'least',
    'greatest',
    'ascii',
  ].map((name) => [name.toLowerCase(), name]),
);

/**
 * Alternative names of functions. For example, `toInt64OrNull` is another name for `toInt`, because all conversions
 * return null for an invalid string.
 */
const synonyms = new Map<string, string>([
  ['toFloatOrNull', 'toFloat'],
  ['toFloat64OrNull', 'toFloat'],
  ['toFloat64OrZero', 'toFloatOrZero'],
  ['toIntOrNull', 'toInt'],
  ['toInt32OrNull', 'toInt'],
  ['toInt64OrNull', 'toInt'],
  ['toInt32OrZero', 'toIntOrZero'],
  ['toInt64OrZero', 'toIntOrZero'],
  ['toDateOrNull', 'toDate'],
  ['toDateTimeOrNull', 'toDateTime'],
  ['toUUIDOrNull', 'toUUID'],
  ['parseDateTimeBestEffortOrNull', 'parseDateTimeBestEffort'],
  ['parseDateTimeOrNull', 'parseDateTime'],
]);

/** Returns a function's name in the table. Names of functions in the SQL standard are not case-sensitive. */
export const toFunctionTableName = (name: string) => inAnyCase.get(name.toLowerCase()) ?? synonyms.get(name) ?? name;

/** PostHog functions that are rejected with a specific message. */
export const refusedFunctions: ReadonlyMap<string, string> = new Map([
  [
    'matchesAction',
    'matchesAction is not supported, because Millrace has no actions. Compare the event name and properties.',
  ],
  ...['windowFunnel', 'sequenceMatch', 'sequenceCount', 'sequenceNextNode', 'retention'].map(
    (name): [string, string] => [
      name,
      `${name} is not supported. Use a ${name === 'retention' ? 'retention' : 'funnel'} insight.`,
    ],
  ),
  ...[
    'sparkline',
    'recordingButton',
    'embedText',
    'convertCurrency',
    'lookupDomainType',
    'uniqHLL12',
    'uniqTheta',
    'quantileTDigest',
    'groupArraySample',
    'indexHint',
    'generateUUIDv4',
    'rand',
    'cityHash64',
  ].map((name): [string, string] => [name, `The function '${name}' is not supported.`]),
]);

/** Returns the known name that is most similar to the given one, or null if none is similar. */
export function closestName(name: string, names: Iterable<string> = publicNames): string | null {
  let best: { name: string; distance: number } | null = null;
  for (const known of names) {
    const distance = distanceOf(name.toLowerCase(), known.toLowerCase());
    if (distance <= Math.max(1, Math.floor(known.length / 4)) && (best === null || distance < best.distance))
      best = { name: known, distance };
  }
  return best?.name ?? null;
}

/**
 * Returns the edit distance of two words, which is the number of insertions, deletions and replacements between them.
 */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function entries(names: readonly string[], bounds: readonly [number, number]): [string, readonly [number, number]][] {
  return names.map((name) => [name, bounds]);
}
