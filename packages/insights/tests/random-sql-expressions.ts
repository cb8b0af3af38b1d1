// Random SQL expressions on the data set of the SQL cases. Expressions of each type are built from operators and from
// the functions in the function table.

import type { Argument, SqlFunction } from '../src/sql/functions/define.ts';
import { isInternal, scalars } from '../src/sql/functions/index.ts';

export const randomValues = { name: 'Ann', count: 3, share: 0.5, names: ['a', 'order', 'Ann'], none: null };

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

/** The kind of value for each result type in the function table. */
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

/**
 * Functions whose results differ between the engines in the last digits or at the limits, and functions with separate
 * rules in this file.
 */
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
  columns: Readonly<Record<Kind | 'document', readonly string[]>>;
  below(count: number): number;
  pick<T>(list: readonly T[]): T;
  chance(share: number): boolean;
}

export const scalarKinds: readonly Kind[] = ['text', 'int', 'float', 'flag', 'bool', 'date', 'time', 'uuid'];

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
  const { below, pick } = dice;
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
      return document(dice);
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

const document = ({ pick, chance, columns }: Dice) =>
  chance(0.8) ? pick(columns.document) : `'{"items": [1, "x"], "note": null}'`;

/** Returns two lists of equal length, for use as function arguments. */
const twice = (list: string) => `${list}, arrayReverse(${list})`;

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
  const compared = () => comparison(dice, sortable(), depth - 1);
  const own = forms[kind]({ dice, of, sortable, comparison: compared, below, pick });
  const isList = kind.endsWith('[]');
  return pick([...own, ...own, ...(isList ? [] : [...any, ...scalar])])();
}

interface Form extends Pick<Dice, 'below' | 'pick'> {
  dice: Dice;
  /** Returns a less deeply nested expression of the given kind. */
  of(kind: Kind): string;
  sortable(): Kind;
  comparison(): string;
}

const forms: Record<Kind, (form: Form) => (() => string)[]> = {
  text: (form) => [
    () => `toString(${form.of(form.sortable())})`,
    () => `(${form.of('text')} || ${form.of('text')})`,
    () => `${form.of('text[]')}[${form.pick(['1', '2', '-1', '9'])}]`,
    () => `transform(${form.of('text')}, ['a', 'Ann'], ['x', 'y'], ${form.of('text')})`,
    () => `assumeNotNull(${form.of('text')})`,
    () => `(${form.of('text')} ?? ${form.of('text')})`,
    () => `format('{} of {{{}}}', ${form.of('text')}, ${form.of('int')})`,
    () => `(${form.of('text')}, ${form.of('int')}).1`,
    () => `JSONExtract(${document(form.dice)}, ${form.pick(keys)}, '${form.pick(['String', 'Nullable(String)'])}')`,
    () => `CAST(${form.of(form.sortable())} AS String)`,
    () => `coalesce({name}, ${form.of('text')}, {none})`,
  ],
  int: (form) => [
    () => `(${form.of('int')} ${form.pick(['+', '-'])} ${form.of('int')})`,
    () => `(${form.of('int')} % ${form.pick(['2', '7', '-3'])})`,
    () => `intDiv(${form.of('int')}, ${form.pick(['2', '7', '-3'])})`,
    () =>
      `${form.pick(['dateDiff', 'age'])}(${form.pick(units)}, ${form.of(form.pick(['date', 'time']))}, ${form.of('time')})`,
    () => `toInt(${form.of(form.pick(['text', 'float', 'flag', 'bool']))})`,
    () => `arrayCount(x -> x = ${form.pick(constants.text)}, ${form.of('text[]')})`,
    () => `indexOf(${form.of('text[]')}, ${form.of('text')})`,
    () => `(${form.of('flag')} ? ${form.of('int')} : {count})`,
    () => `(${form.of('int')} % 1000) * ${form.pick(['2', '-3', '{count}'])}`,
    () => `toIntOrZero(${form.of('text')})`,
    () => `(${form.of(form.pick(['text', 'float', 'bool', 'time']))})::Int64`,
    () => `JSONExtract(${document(form.dice)}, ${form.pick(keys)}, 'Int64')`,
    () => `arrayReduce('${form.pick(['sum', 'min', 'max', 'count'])}', ${form.of('int[]')})`,
    () => `length(arrayZip(${twice(form.of('int[]'))}))`,
    () => `arrayCount((x, y) -> x < y, ${twice(form.of('text[]'))})`,
    () => `toWeek(${form.of('time')}, ${form.pick(['0', '1', '3'])})`,
  ],
  float: (form) => [
    () => `(${form.of('float')} ${form.pick(['+', '-', '*'])} ${form.of('float')})`,
    // Avoid NaN, the result of 0 / 0, because the engines compare it differently.
    () => `(${form.of(form.pick(['int', 'float']))} / ${form.pick(['2', '-0.5', 'nullIf(length(event), 5)'])})`,
    () => `toFloat(${form.of(form.pick(['text', 'int', 'flag']))})`,
    () => `round(${form.of('float')}, ${form.below(3)})`,
    () => `toFloatOrZero(${form.of('text')})`,
    () => `CAST(${form.of(form.pick(['text', 'int', 'flag']))} AS Float64)`,
    () => `JSONExtract(${document(form.dice)}, ${form.pick(keys)}, '${form.pick(['Float64', 'Nullable(Float64)'])}')`,
  ],
  flag: (form) => [
    () => form.comparison(),
    () => form.comparison(),
    () => `(${form.of('flag')} ${form.pick(['AND', 'OR'])} ${form.of('flag')})`,
    () => `NOT (${form.of('flag')})`,
    () => `${form.of(form.sortable())} IS ${form.pick(['', 'NOT '])}NULL`,
    () =>
      `${form.of('text')} ${form.pick(['LIKE', 'ILIKE', 'NOT LIKE', 'NOT ILIKE'])} ${form.pick(["'%a%'", "'_n%'", "'%'"])}`,
    () => `${form.of('text')} =~ ${form.pick(patterns)}`,
    () => `arrayExists(x -> x ${form.pick(['=', '!=', '<'])} ${form.pick(constants.text)}, ${form.of('text[]')})`,
    () => `has(${form.of('text[]')}, ${form.of('text')})`,
    () => `${form.of('text')} ${form.pick(['=~*', '!~', '!~*'])} ${form.pick(["'ann'", "'[0-9]+'", "'^[A-Z]'"])}`,
    () => `(${form.of('text')}, ${form.of('int')}) ${form.pick(['=', '!='])} (${form.of('text')}, ${form.of('int')})`,
    () => `(${form.of('text')}, ${form.of('int')}) ${form.pick(['IN', 'NOT IN'])} (('a', 1), ('Ann', 2))`,
    () => `${form.of('int')} ${form.pick(['IN', 'NOT IN'])} (1, 2, {count})`,
    () => `${form.of('text')} ${form.pick(['IN', 'NOT IN'])} {names}`,
    () => `arrayAll((x, y) -> x ${form.pick(['<=', '!='])} y, ${twice(form.of('text[]'))})`,
  ],
  bool: (form) => [
    () => `toBool(${form.of(form.pick(['text', 'int', 'flag']))})`,
    () => `(${form.of(form.pick(['text', 'flag']))})::Bool`,
    () => `JSONExtract(${document(form.dice)}, ${form.pick(keys)}, 'Bool')`,
  ],
  date: (form) => [
    () => `toDate(${form.of('time')})`,
    () =>
      `(${form.of('date')} ${form.pick(['+', '-'])} INTERVAL ${form.below(40)} ${form.pick(['DAY', 'WEEK', 'MONTH', 'YEAR'])})`,
    () => `toStartOfWeek(${form.of('time')}${form.pick(['', ', 0', ', 1'])})`,
    () => `toStartOfInterval(${form.of('time')}, INTERVAL ${form.pick(['1 WEEK', '2 WEEK', '1 MONTH'])})`,
    () =>
      `${form.pick(['add', 'subtract'])}${form.pick(['Days', 'Weeks', 'Months', 'Quarters'])}(${form.of('date')}, ${form.below(9)})`,
    () =>
      `dateTrunc(${form.pick(["'week'", "'month'", "'quarter'", "'year'"])}, ${form.of(form.pick(['date', 'time']))})`,
    () => `CAST(${form.of('time')} AS Date)`,
    () => `toDate(${form.of('text')})`,
  ],
  time: (form) => [
    () => `toTimeZone(${form.of('time')}, ${form.pick(zones)})`,
    () =>
      `(${form.of('time')} ${form.pick(['+', '-'])} INTERVAL ${form.below(40)} ${form.pick(['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'])})`,
    () => `toDateTime(${form.of(form.pick(['text', 'date']))})`,
    () =>
      `toStartOfInterval(${form.of('time')}, INTERVAL ${form.pick(['5 MINUTE', '15 MINUTE', '6 HOUR', '1 HOUR', '3 DAY'])})`,
    () => `date${form.pick(['Add', 'Sub'])}(${form.pick(units)}, ${form.below(9)}, ${form.of('time')})`,
    () =>
      `${form.pick(['add', 'subtract'])}${form.pick(['Hours', 'Days', 'Months', 'Years'])}(${form.of('time')}, ${form.below(9)})`,
    () => `dateTrunc(${form.pick(["'minute'", "'hour'", "'day'"])}, ${form.of('time')})`,
    () => `${form.pick(['toStartOfFiveMinutes', 'toStartOfFifteenMinutes', 'timeSlot'])}(${form.of('time')})`,
    () => `parseDateTime(${form.of('text')}, ${form.pick(["'%Y-%m-%d'", "'%d.%m.%Y %T'"])})`,
  ],
  uuid: (form) => [() => `toUUID(${form.of('text')})`],
  'text[]': (form) => [
    () => `arrayMap(x -> concat(x, ${form.pick(constants.text)}), ${form.of('text[]')})`,
    () => `arrayFilter(x -> x != ${form.pick(constants.text)}, ${form.of('text[]')})`,
    () =>
      `${form.pick(['arraySort', 'arrayReverse', 'arrayDistinct', 'arrayReverseSort', 'arrayCompact'])}(${form.of('text[]')})`,
    () =>
      `${form.pick(['arraySort', 'arrayReverseSort'])}(x -> ${form.pick(['length(x)', 'reverse(x)', "(length(x), 'b')", 'toFloat(x)'])}, ${form.of('text[]')})`,
    () => `arraySlice(${form.of('text[]')}, ${form.pick(['1', '2', '-2'])}, ${1 + form.below(3)})`,
    () => `arrayConcat(${form.of('text[]')}, ${form.of('text[]')})`,
    () => `${form.of('text[]')}[${form.pick(['1:2', '2:3'])}]`,
    () => `splitByRegexp(${form.pick(["','", "'[/&]'"])}, ${form.of('text')})`,
    () => `JSONExtract(${document(form.dice)}, ${form.pick(keys)}, 'Array(String)')`,
    () => `arrayMap((x, y) -> concat(x, y), ${twice(form.of('text[]'))})`,
    () => `arrayMap(pair -> concat(pair.1, pair.2), arrayZip(${twice(form.of('text[]'))}))`,
  ],
  'int[]': (form) => [
    () => `arrayMap(x -> x + ${form.below(5)}, ${form.of('int[]')})`,
    () => `${form.pick(['arraySort', 'arrayCompact'])}(${form.of('int[]')})`,
    () => `${form.pick(['arraySort', 'arrayReverseSort'])}(x -> ${form.pick(['- x', 'x % 3'])}, ${form.of('int[]')})`,
  ],
};

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
    () => `${pick(['sum', 'avg'])}${suffix}(DISTINCT ${number()}${last})`,
    () => `groupUniqArray${suffix}${pick(['', '(2)'])}(${text()}${last})`,
    () => `topK${suffix}(${1 + below(3)})(${text()}${last})`,
    () => `arraySort(groupArray${suffix}(${text()}${last}))`,
  ])();
}
