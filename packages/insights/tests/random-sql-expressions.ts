// Random SQL expressions on the data set of the SQL cases. Expressions of each type are built from operators and from
// the functions in the table.

import type { Argument, SqlFunction } from '../src/sql/functions/define.ts';
import { isInternal, scalars } from '../src/sql/functions/index.ts';

export type Kind = 'text' | 'int' | 'float' | 'flag' | 'bool' | 'date' | 'time' | 'uuid' | 'text[]' | 'int[]';

const constants: Record<Kind, readonly string[]> = {
  text: [
    "''",
    "'a'",
    "'Ann'",
    "'Ärger & Öl'",
    "'10'",
    "'-1.50'",
    "'true'",
    "'it\\'s'",
    "'a,b,,c'",
    "'%a_'",
    "'2026-03-29'",
  ],
  int: ['0', '1', '2', '3', '7', '12', '-3', '255', '1000'],
  float: ['0.5', '-1.25', '2.5', '100.75', 'toFloat(3)'],
  flag: ['1 = 1', '2 < 1', "'a' LIKE 'b%'"],
  bool: ['true', 'false', "toBool('yes')"],
  date: ["toDate('2026-03-29')", "toDate('2024-02-29')", 'today()', 'yesterday()'],
  time: ["toDateTime('2026-03-29 01:59:59')", "toDateTime('2026-10-25 02:30:00')", 'now()'],
  uuid: ["toUUID('30000000-0000-4000-8000-000000000001')", "toUUID('no')"],
  'text[]': ["['a', 'b', 'a']", "splitByChar(',', 'x,,y')", "arrayFilter(x -> x = 'z', ['a'])"],
  'int[]': ['[3, 1, 2, 1]', 'range(4)', '[0]'],
};

const patterns = ["'a'", "'^[A-Z]'", "'(o+)r'", "'[0-9]+'", "'(?i)ANN'", "'e$'", "'\\\\w+'"];
const formats = ["'%Y-%m-%d'", "'%H:%i:%S'", "'%e %M %y'", "'at %H h'"];
const zones = ["'UTC'", "'Europe/Berlin'", "'Asia/Kolkata'", "'America/New_York'"];
const units = ["'second'", "'minute'", "'hour'", "'day'", "'week'", "'month'", "'quarter'", "'year'"];
const keys = ["'items'", "'address'", "'amount'", "'note'", "'none'"];

/** The kind of value for each type of result in the function table. */
const resultKinds: Record<string, Kind> = {
  ...{
    text: 'text',
    int: 'int',
    count: 'int',
    part: 'int',
    seconds: 'int',
    total: 'int',
    float: 'float',
    flag: 'flag',
  },
  ...{ bool: 'bool', date: 'date', start: 'time', time: 'time', 'text[]': 'text[]', numbers: 'int[]', longs: 'int[]' },
};

/** Functions whose last digits or limits differ between the engines, and functions with separate rules in this file. */
const excluded =
  /^(arrayElement|exp|log|pow|sqrt|range|intDiv|modulo|repeat|to(DateTime|Date)|fromUnixTimestamp|sortableSemVer|divide|multiply|splitByRegexp)$/;

const table = new Map<Kind, SqlFunction[]>();
for (const [name, options] of scalars) {
  for (const one of options) {
    const kind = resultKinds[one.result];
    if (
      kind === undefined ||
      excluded.test(name) ||
      isInternal(name) ||
      one.args.some(({ kind: of }) => of === 'lambda' || of === 'condition')
    )
      continue;
    table.set(kind, [...(table.get(kind) ?? []), one]);
  }
}

export interface Dice {
  /** Columns that an expression can read. */
  columns: Readonly<Record<Kind | 'document', readonly string[]>>;
  below(count: number): number;
  pick<T>(list: readonly T[]): T;
  chance(share: number): boolean;
}

/** Kinds that can be sorted and compared. */
export const scalarKinds: readonly Kind[] = ['text', 'int', 'float', 'flag', 'bool', 'date', 'time', 'uuid'];

/** Returns a random expression of a type. */
export function expression(dice: Dice, kind: Kind, depth: number): string {
  const { pick, chance } = dice;
  const columns = dice.columns[kind];
  if (depth <= 0 || chance(0.2)) return columns.length > 0 && chance(0.75) ? pick(columns) : pick(constants[kind]);
  const functions = table.get(kind) ?? [];
  if (functions.length > 0 && chance(0.5)) return call(dice, pick(functions), depth);
  return special(dice, kind, depth);
}

function call(dice: Dice, { name, args }: SqlFunction, depth: number): string {
  const { below, chance } = dice;
  const written = args.flatMap((arg) => {
    if (arg.isOptional && chance(0.5)) return [];
    const count = arg.isRepeated ? 1 + below(2) : 1;
    return Array.from({ length: count }, () => argument(dice, arg, depth - 1));
  });
  return `${name}(${written.join(', ')})`;
}

function argument(dice: Dice, { kind }: Argument, depth: number): string {
  const { below, pick, chance } = dice;
  switch (kind) {
    case 'anything':
    case 'comparable':
      return expression(dice, pick(scalarKinds), depth);
    case 'moment':
      return expression(dice, pick(['date', 'time'] as const), depth);
    case 'array':
    case 'list':
      return expression(dice, 'text[]', depth);
    case 'element':
      return expression(dice, 'text', depth);
    case 'float[]':
      return '[0.5, 2.25]';
    case 'document':
      return chance(0.8) ? pick(dice.columns.document) : `'{"items": [1, "x"], "note": null}'`;
    case 'path':
      return pick(keys);
    case 'separator':
    case 'character':
      return pick(["','", "'a'", "' '", "'&'"]);
    case 'small':
      return String(below(9));
    case 'like':
      return pick(["'%a%'", "'_n%'", "'%'", "'a\\\\%'"]);
    case 'pattern':
      return pick(patterns);
    case 'replacement':
      return pick(["''", "'-'", "'<\\\\0>'"]);
    case 'format':
      return pick(formats);
    default:
      return expression(dice, kind as Kind, depth);
  }
}

/** Builds expressions from operators, and from functions that are not in the table. */
function special(dice: Dice, kind: Kind, depth: number): string {
  const { below, pick } = dice;
  const sortable = () => pick(scalarKinds);
  const of = (one: Kind) => expression(dice, one, depth - 1);
  const any: (() => string)[] = [
    () => `if(${of('flag')}, ${of(kind)}, ${of(kind)})`,
    () => `multiIf(${of('flag')}, ${of(kind)}, ${of('flag')}, ${of(kind)}, ${of(kind)})`,
    () => `CASE WHEN ${of('flag')} THEN ${of(kind)} ELSE ${of(kind)} END`,
  ];
  const scalar: (() => string)[] = [
    () => `coalesce(${of(kind)}, ${of(kind)})`,
    () => `nullIf(${of(kind)}, ${of(kind)})`,
    () => `${pick(['least', 'greatest'])}(${of(kind)}, ${of(kind)})`,
  ];
  const own: Record<Kind, (() => string)[]> = {
    text: [
      () => `toString(${of(sortable())})`,
      () => `(${of('text')} || ${of('text')})`,
      () => `${of('text[]')}[${pick(['1', '2', '-1', '9'])}]`,
      () => `transform(${of('text')}, ['a', 'Ann'], ['x', 'y'], ${of('text')})`,
      () => `assumeNotNull(${of('text')})`,
    ],
    int: [
      () => `(${of('int')} ${pick(['+', '-'])} ${of('int')})`,
      () => `(${of('int')} % ${pick(['2', '7', '-3'])})`,
      () => `intDiv(${of('int')}, ${pick(['2', '7', '-3'])})`,
      () => `${pick(['dateDiff', 'age'])}(${pick(units)}, ${of(pick(['date', 'time']))}, ${of('time')})`,
      () => `toInt(${of(pick(['text', 'float', 'flag', 'bool']))})`,
      () => `arrayCount(x -> x = ${pick(constants.text)}, ${of('text[]')})`,
      () => `indexOf(${of('text[]')}, ${of('text')})`,
    ],
    float: [
      () => `(${of('float')} ${pick(['+', '-', '*'])} ${of('float')})`,
      // The engines compare NaN, which is the result of 0 / 0, differently.
      () => `(${of(pick(['int', 'float']))} / ${pick(['2', '-0.5', 'nullIf(length(event), 5)'])})`,
      () => `toFloat(${of(pick(['text', 'int', 'flag']))})`,
      () => `round(${of('float')}, ${below(3)})`,
    ],
    flag: [
      () => comparison(dice, sortable(), depth - 1),
      () => comparison(dice, sortable(), depth - 1),
      () => `(${of('flag')} ${pick(['AND', 'OR'])} ${of('flag')})`,
      () => `NOT (${of('flag')})`,
      () => `${of(sortable())} IS ${pick(['', 'NOT '])}NULL`,
      () => `${of('text')} ${pick(['LIKE', 'ILIKE', 'NOT LIKE', 'NOT ILIKE'])} ${pick(["'%a%'", "'_n%'", "'%'"])}`,
      () => `${of('text')} =~ ${pick(patterns)}`,
      () => `arrayExists(x -> x ${pick(['=', '!=', '<'])} ${pick(constants.text)}, ${of('text[]')})`,
      () => `has(${of('text[]')}, ${of('text')})`,
    ],
    bool: [() => `toBool(${of(pick(['text', 'int', 'flag']))})`],
    date: [
      () => `toDate(${of('time')})`,
      () => `(${of('date')} ${pick(['+', '-'])} INTERVAL ${below(40)} ${pick(['DAY', 'WEEK', 'MONTH', 'YEAR'])})`,
      () => `toStartOfWeek(${of('time')}${pick(['', ', 0', ', 1'])})`,
      () => `toStartOfInterval(${of('time')}, INTERVAL ${pick(['1 WEEK', '2 WEEK', '1 MONTH'])})`,
    ],
    time: [
      () => `toTimeZone(${of('time')}, ${pick(zones)})`,
      () =>
        `(${of('time')} ${pick(['+', '-'])} INTERVAL ${below(40)} ${pick(['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'])})`,
      () => `toDateTime(${of(pick(['text', 'date']))})`,
      () =>
        `toStartOfInterval(${of('time')}, INTERVAL ${pick(['5 MINUTE', '15 MINUTE', '6 HOUR', '1 HOUR', '3 DAY'])})`,
    ],
    uuid: [() => `toUUID(${of('text')})`],
    'text[]': [
      () => `arrayMap(x -> concat(x, ${pick(constants.text)}), ${of('text[]')})`,
      () => `arrayFilter(x -> x != ${pick(constants.text)}, ${of('text[]')})`,
      () => `${pick(['arraySort', 'arrayReverse', 'arrayDistinct'])}(${of('text[]')})`,
      () => `arraySlice(${of('text[]')}, ${pick(['1', '2', '-2'])}, ${1 + below(3)})`,
      () => `arrayConcat(${of('text[]')}, ${of('text[]')})`,
    ],
    'int[]': [() => `arrayMap(x -> x + ${below(5)}, ${of('int[]')})`, () => `arraySort(${of('int[]')})`],
  };
  const isList = kind.endsWith('[]');
  return pick([...own[kind], ...own[kind], ...(isList ? [] : [...any, ...scalar])])();
}

function comparison(dice: Dice, kind: Kind, depth: number): string {
  const { pick } = dice;
  const of = () => expression(dice, kind, depth);
  return pick([
    () => `(${of()} ${pick(['=', '!=', '<', '<=', '>', '>='])} ${of()})`,
    () => `(${of()} BETWEEN ${of()} AND ${of()})`,
    () => `${of()} ${pick(['IN', 'NOT IN'])} (${pick(constants.text)}, NULL)`,
    () =>
      `${expression(dice, 'text', depth)} ${pick(['IN', 'NOT IN'])} (${pick(constants.text)}, ${pick(constants.text)})`,
  ])();
}

export function aggregate(dice: Dice, depth: number): string {
  const { below, pick, chance } = dice;
  const suffix = chance(0.3) ? 'If' : '';
  const last = suffix === '' ? '' : `, ${expression(dice, 'flag', 1)}`;
  const [any, number, text] = [
    () => expression(dice, pick(scalarKinds), depth),
    () => expression(dice, pick(['int', 'float'] as const), depth),
    () => expression(dice, 'text', depth),
  ];
  return pick([
    () => (suffix === '' ? 'count()' : `countIf(${expression(dice, 'flag', 1)})`),
    () => `count(DISTINCT ${any()})`,
    () => `${pick(['uniq', 'min', 'max', 'any', 'anyLast', 'count'])}${suffix}(${any()}${last})`,
    () => `${pick(['sum', 'avg', 'median', 'stddevPop', 'varSamp'])}${suffix}(${number()}${last})`,
    () => `${pick(['argMax', 'argMin'])}${suffix}(${any()}, ${any()}${last})`,
    () => `quantile${suffix}(${pick(['0', '0.25', '0.9', '1'])})(${number()}${last})`,
    () => `quantiles${suffix}(0.25, 0.9)(${number()}${last})[${pick(['1', '2'])}]`,
    () => `groupUniqArray${suffix}(${text()}${last})`,
    () => `topK${suffix}(${1 + below(3)})(${text()}${last})`,
    () => `arraySort(groupArray${suffix}(${text()}${last}))`,
  ])();
}
