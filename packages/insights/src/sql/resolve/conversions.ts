import type { Call, Node } from '../ast.ts';
import { languageNames } from '../functions/languages.ts';
import { type Place, SqlProblem } from '../problem.ts';
import type { Expression } from '../tree.ts';
import {
  bool,
  date,
  describe,
  flag,
  float,
  int,
  nullable,
  type SqlType,
  text,
  time,
  typeName,
  uuid,
} from '../types.ts';
import { type At, applyFunction, type CallResolver } from './calls.ts';
import type { Scope } from './scope.ts';
import { emptyValue, isNull, readTime, textConstant, textOf } from './values.ts';

const first = (node: Call, scope: Scope) => scope.run.expression(node.args[0] as Node, scope);

/** Pairs of types between which both engines can convert. */
const castPairs = new Set([
  ...['int', 'float', 'flag', 'bool', 'date', 'time', 'uuid', 'json', 'text', 'nothing'].map((kind) => `${kind} text`),
  'flag int',
  'bool int',
  'int int',
  'float int',
  'text int',
  'time int',
  'flag float',
  'bool float',
  'int float',
  'text float',
  'float float',
  'bool flag',
  'flag bool',
  'bool bool',
  'int bool',
  'float bool',
  'text bool',
  'text uuid',
  'date time',
  'text time',
  'time time',
]);

/** Converts a value to a type. The result is null if the value is not valid for the type. */
function castTo(value: Expression, type: SqlType, place: Place): Expression {
  const { kind } = value.type;
  const result = nullable(type, type.kind === 'text' ? value.type.isNullable : true);
  if (isNull(value)) return { is: 'constant', type: nullable(type), value: null };
  if (kind === type.kind && kind !== 'int') return value;
  if (!castPairs.has(`${kind} ${type.kind}`))
    throw new SqlProblem(`Cannot convert ${describe(value.type)} into ${describe(type)}.`, place);
  return { is: 'cast', value, type: result };
}

const cast =
  (type: SqlType): CallResolver =>
  (node, scope) =>
    castTo(first(node, scope), type, node.place);

const castTypes: Record<string, SqlType> = {
  int64: int(),
  int32: int(),
  int: int(),
  integer: int(),
  bigint: int(),
  uint64: int(),
  uint32: int(),
  int16: int(),
  int8: int(),
  float: float,
  float64: float,
  float32: float,
  double: float,
  real: float,
  string: text,
  text,
  varchar: text,
  date,
  bool,
  boolean: bool,
  uuid,
};

export function resolveCast(node: Extract<Node, { node: 'TypeCast' }>, scope: Scope): Expression {
  const name = node.type_name.replace(/^nullable\((.*)\)$/i, '$1').toLowerCase();
  const value = scope.run.expression(node.expr, scope);
  if (name === 'datetime' || name === 'timestamp')
    return toDateTime(value, scope.run.settings.zone, { scope, place: node.place });
  const type = castTypes[name];
  if (type === undefined)
    throw new SqlProblem(
      `Casts to ${name.replace(/^\w/, (letter) => letter.toUpperCase())} are not supported.`,
      node.place,
    );
  if (type.kind === 'date') return applyFunction('toDate', [value], { scope, place: node.place });
  return castTo(value, type, node.place);
}

/**
 * Converts a value to a time. A string that is not a time becomes null. The result is nullable for all strings except
 * constant times without an offset or a fraction.
 */
export function toDateTime(value: Expression, zone: string, at: At): Expression {
  const written = textOf(value);
  if (written !== null) {
    const instant = readTime(written, zone);
    const hasFraction = /[Zz.]|[+-]\d\d:?\d\d$/.test(written);
    const isNullable = instant === null || hasFraction;
    return { is: 'constant', type: { ...time(zone, hasFraction), isNullable }, value: instant };
  }
  if (value.type.kind === 'text') return { is: 'cast', value, type: { ...time(zone), isNullable: true } };
  const found = applyFunction('toDateTime', [value], at);
  return { ...found, type: { ...found.type, zone } };
}

/** Replaces null with the empty value of the type: an empty string, 0 or false. Other types stay null. */
function withoutNull(value: Expression): Expression {
  const empty = emptyValue(nullable(value.type, false));
  if (!value.type.isNullable || empty.type.isNullable) return value;
  const isMissing: Expression = { is: 'null', part: value, type: flag };
  return { is: 'choice', cases: [{ when: isMissing, result: empty }], otherwise: value, type: empty.type };
}

const orZero =
  (type: SqlType): CallResolver =>
  (node, scope) =>
    withoutNull(castTo(first(node, scope), type, node.place));

/** Parses times in ISO 8601 and in the SQL format. PostgreSQL and ClickHouse disagree on other formats. */
const parseDateTime: CallResolver = (node, scope) => {
  const value = first(node, scope);
  const written = textOf(value);
  if (written !== null && readTime(written, 'UTC') === null)
    throw new SqlProblem(
      `Function '${node.name}' reads only times such as 2026-03-10 12:00:00, found '${written.slice(0, 100)}'.`,
      node.args[0]?.place ?? node.place,
    );
  return scope.run.expression({ ...node, name: 'toDateTime' }, scope);
};

/** Regular expressions for the parts of a time in the formats of parseDateTime. */
const timeParts: Readonly<Record<string, string>> = {
  Y: '\\d{4}',
  m: '\\d\\d',
  d: '\\d\\d',
  H: '\\d\\d',
  i: '\\d\\d',
  S: '\\d\\d',
};
const shortFormats: Readonly<Record<string, string>> = { F: '%Y-%m-%d', T: '%H:%i:%S', R: '%H:%i', s: '%S' };

/**
 * Resolves `parseDateTime(text, format)`, which parses a time in a constant format. The result is null if the string
 * has another format.
 */
const parseWithFormat: CallResolver = (node, scope) => {
  const { args, place } = node;
  const [value, format] = args as [Node, Node];
  const written = format.node === 'Constant' && typeof format.value === 'string' ? format.value : null;
  if (written === null) throw new SqlProblem("The format of 'parseDateTime' must be a constant text.", format.place);
  const letters: string[] = [];
  const pattern = written
    .replace(/%([FTRs])/g, (_, letter: string) => shortFormats[letter] ?? '')
    .replace(/%([\s\S]?)|[^%]+/g, (found, letter?: string) => {
      if (letter === undefined) return found.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      const part = timeParts[letter];
      if (part === undefined) throw new SqlProblem(`The format letter %${letter} is not supported.`, format.place);
      if (letters.includes(letter)) throw new SqlProblem(`The format contains %${letter} twice.`, format.place);
      letters.push(letter);
      return `(${part})`;
    });
  const partOf = (letter: string, usual: string) =>
    letters.includes(letter) ? `\\${letters.indexOf(letter) + 1}` : usual;
  const day = `${partOf('Y', '1970')}-${partOf('m', '01')}-${partOf('d', '01')}`;
  const standard = `${day} ${partOf('H', '00')}:${partOf('i', '00')}:${partOf('S', '00')}`;
  const at = (text: string): Node => ({ node: 'Constant', value: text, place: format.place });
  const call = (name: string, given: Node[]): Node => ({ node: 'Call', name, args: given, place });
  const whole = at(`^${pattern}$`);
  const found = call('toDateTime', [call('replaceRegexpOne', [value, whole, at(standard)]), ...args.slice(2)]);
  return scope.run.expression(
    call('if', [call('match', [value, whole]), found, { node: 'Constant', value: null, place }]),
    scope,
  );
};

const languageName: CallResolver = (node, scope) =>
  applyFunction('languageName', [first(node, scope), textConstant(languageNames)], { scope, place: node.place });

export const conversions: ReadonlyMap<string, CallResolver> = new Map<string, CallResolver>([
  ['toString', cast(text)],
  ['toFloat', cast(float)],
  ['toFloatOrZero', orZero(float)],
  ['toInt', cast(int())],
  ['toIntOrZero', orZero(int())],
  ['toBool', cast(bool)],
  ['toUUID', cast(uuid)],
  ['assumeNotNull', (node, scope) => withoutNull(first(node, scope))],
  ['toNullable', first],
  ['toTypeName', (node, scope) => textConstant(typeName(first(node, scope).type))],
  ['parseDateTimeBestEffort', parseDateTime],
  ['parseDateTime', parseWithFormat],
  ['languageCodeToName', languageName],
]);
