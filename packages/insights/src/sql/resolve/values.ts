// Resolves constants, and converts expressions to the types that their context requires.

import { createTimeZone } from '@millrace/schedule';
import { type Place, SqlProblem } from '../problem.ts';
import type { ConstantExpression, Expression } from '../tree.ts';
import {
  bool,
  commonType,
  date,
  describe,
  flag,
  float,
  int,
  nothing,
  nullable,
  type SqlType,
  text,
  time,
  uuid,
} from '../types.ts';

/**
 * Returns the expression of a constant.
 * @param digits the number as written
 */
export function constant(
  value: string | number | boolean | null,
  digits: string | undefined,
  place: Place,
): ConstantExpression {
  if (value === null) return { is: 'constant', type: nothing, value };
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new SqlProblem('A text must not contain null characters.', place);
    return { is: 'constant', type: text, value };
  }
  if (typeof value === 'boolean') return { is: 'constant', type: bool, value };
  const written = digits?.trim() ?? String(value);
  const whole = /^[-+]?\s*\d+$/.test(written) ? BigInt(written.replace(/[+\s]/g, '')) : integerOf(value, written);
  if (whole === null) return { is: 'constant', type: float, value };
  if (whole >= 2n ** 63n || whole < -(2n ** 63n)) return { is: 'constant', type: float, value };
  const width = whole < 0n ? 'Int64' : whole <= 255n ? 'UInt8' : whole < 2n ** 32n ? 'UInt32' : 'UInt64';
  return { is: 'constant', type: int(width), value: String(whole) };
}

/**
 * Returns the value as an integer if it is written in hexadecimal, or if it comes from a placeholder and is an integer.
 * Returns null for other numbers.
 */
const integerOf = (value: number, written: string) =>
  Number.isSafeInteger(value) && !/[.eE]/.test(written.replace(/^0x.*/i, '')) ? BigInt(value) : null;

/** Maximum number of elements in the lists that aggregates and `range` return. */
export const longestList = 10_000;

export const textConstant = (value: string): ConstantExpression => ({ is: 'constant', type: text, value });
export const intConstant = (value: number): ConstantExpression => ({
  is: 'constant',
  type: value >= 0 && value <= 255 ? int('UInt8') : int(),
  value: String(value),
});
export const timeConstant = (value: number, zone: string): ConstantExpression => ({
  is: 'constant',
  type: time(zone),
  value,
});
export const dateConstant = (value: string): ConstantExpression => ({ is: 'constant', type: date, value });

export const isConstant = (one: Expression): one is ConstantExpression => one.is === 'constant';
export const isNull = (one: Expression) => one.is === 'constant' && one.value === null;
/** Returns the value of a string constant, or null for other expressions. */
export const textOf = (one: Expression | undefined): string | null =>
  one?.is === 'constant' && typeof one.value === 'string' && one.type.kind === 'text' ? one.value : null;

const timeText =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(?:([Zz])|([+-]\d\d):?(\d\d)?)?$/;

/**
 * Parses a time as milliseconds since 1970. Returns null if the string is not a time. A local time that clocks skip is
 * moved back by the skipped duration, as in ClickHouse.
 */
export function readTime(value: string, zone: string): number | null {
  const match = timeText.exec(value.trim());
  if (match === null) return null;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', utc, hours, minutes = '0'] = match;
  const wall = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const isReal = new Date(wall).toISOString().startsWith(`${year}-${month}-${day}T${hour.padStart(2, '0')}`);
  if (!isReal || Number(minute) > 59 || Number(second) > 59) return null;
  const millis = Number(fraction.padEnd(3, '0').slice(0, 3));
  if (utc !== undefined) return wall + millis;
  if (hours !== undefined) {
    const sign = hours.startsWith('-') ? -1 : 1;
    return wall + millis - sign * (Math.abs(Number(hours)) * 60 + Number(minutes)) * 60_000;
  }
  const { toInstant, toWallTime } = createTimeZone(zone);
  const instant = toInstant(wall);
  return instant - (toWallTime(instant) - wall) + millis;
}

/** Returns the string if it is a date, and null otherwise. */
export function readDate(value: string): string | null {
  return /^\d{4}-\d\d-\d\d$/.test(value) && readTime(value, 'UTC') !== null ? value : null;
}

const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const numberText = /^\s*[-+]?\d{1,30}(\.\d{1,30})?([eE][-+]?\d{1,2})?\s*$/;

/** Converts a string constant to another type. Returns null if the string is not a value of that type. */
function readText(value: string, type: SqlType): ConstantExpression | null {
  switch (type.kind) {
    case 'text':
    case 'json':
      return textConstant(value);
    case 'time': {
      const instant = readTime(value, type.zone ?? 'UTC');
      return instant === null ? null : { is: 'constant', type: nullable(type, false), value: instant };
    }
    case 'date': {
      const day = readDate(value);
      return day === null ? null : dateConstant(day);
    }
    case 'uuid':
      return uuidText.test(value) ? { is: 'constant', type: uuid, value: value.toLowerCase() } : null;
    case 'int':
    case 'float':
      return numberText.test(value) ? { is: 'constant', type: float, value: Number(value) } : null;
    case 'bool':
    case 'flag':
      return value === 'true' || value === 'false' ? { is: 'constant', type: bool, value: value === 'true' } : null;
    default:
      return null;
  }
}

/**
 * Converts an expression to a type. Returns null if no value of the expression can be converted. Does not change
 * whether the expression can be null.
 */
export function convert(expression: Expression, type: SqlType): Expression | null {
  const from = expression.type;
  if (isNull(expression)) return nullOf(type);
  const written = textOf(expression);
  if (written !== null && type.kind !== 'text') return readText(written, type);
  if (from.kind === type.kind) {
    if (from.kind === 'array') return convertArray(expression, type);
    if (from.kind !== 'tuple' || expression.is !== 'tuple') return expression;
    const parts = expression.parts.map((part, at) => convert(part, type.parts?.[at] ?? nothing));
    return parts.some((part) => part === null) ? null : { ...expression, parts: parts as Expression[], type };
  }
  const pair = `${from.kind} ${type.kind}`;
  if (isConstant(expression) && pair === 'int float')
    return { is: 'constant', type: float, value: Number(expression.value) };
  if (!implicit.has(pair)) return null;
  return { is: 'cast', value: expression, type: nullable(type, from.isNullable) };
}

/** Returns a null value of a type. Lists and tuples cannot be null in ClickHouse. */
function nullOf(type: SqlType): Expression | null {
  if (type.kind === 'tuple') return null;
  if (type.kind === 'array') return { is: 'array', parts: [], type };
  return { is: 'constant', type: nullable(type, true), value: null };
}

function convertArray(expression: Expression, type: SqlType): Expression | null {
  const [from, to] = [expression.type.element ?? nothing, type.element ?? nothing];
  if (expression.is === 'array') {
    const parts = expression.parts.map((part) => convert(part, to));
    return parts.some((part) => part === null) ? null : { ...expression, parts: parts as Expression[], type };
  }
  return from.kind === to.kind ? expression : null;
}

/** Pairs of types that the engines convert implicitly, so that no function is printed. */
const implicit = new Set([
  'flag int',
  'flag float',
  'int float',
  'bool flag',
  'flag bool',
  'bool int',
  'bool float',
  'date time',
  'json text',
  'uuid text',
]);

export function convertToCommonType(
  expressions: readonly Expression[],
  place: Place,
  what: string,
): { type: SqlType; parts: Expression[] } {
  const type = commonOf(expressions);
  const parts = type === null ? [] : expressions.map((one) => convert(one, type));
  if (type === null || parts.some((part) => part === null)) {
    const kinds = [...new Set(expressions.map((one) => describe(one.type)))];
    throw new SqlProblem(`${what} must have the same type, found ${kinds.join(' and ')}.`, place);
  }
  return { type, parts: parts as Expression[] };
}

/**
 * Returns the common type of expressions. A string constant gets the type of the other expressions, because it may be a
 * time.
 */
function commonOf(expressions: readonly Expression[]): SqlType | null {
  const all = commonType(expressions.map(({ type }) => type));
  if (all !== null) return all;
  const others = expressions.filter((one) => textOf(one) === null);
  const type = commonType(others.map((one) => one.type));
  return type !== null && (type.kind === 'time' || type.kind === 'date' || type.kind === 'uuid') ? type : null;
}

/** Rejects lists of lists, because PostgreSQL requires their rows to have equal lengths. */
export function rejectNestedList(element: SqlType, place: Place): void {
  if (element.kind === 'array') throw new SqlProblem('Lists of lists are not supported.', place);
}

/** Converts an expression to a condition. Null counts as false, so the condition is never null. */
export function toCondition(expression: Expression, place: Place): Expression {
  if (isNull(expression)) return { is: 'constant', type: flag, value: false };
  const { kind } = expression.type;
  if (kind === 'int' || kind === 'float') {
    const zero: Expression = { is: 'constant', type: expression.type, value: kind === 'int' ? '0' : 0 };
    const isNonzero: Expression = {
      is: 'compare',
      comparator: '<>',
      left: expression,
      right: nonNull(zero),
      type: flag,
      isStandard: true,
    };
    if (!expression.type.isNullable) return isNonzero;
    const isSet: Expression = { is: 'not', part: { is: 'null', part: expression, type: flag }, type: flag };
    return { is: 'all', parts: [isSet, isNonzero], type: flag };
  }
  // Properties without a definition have the type text.
  if (kind === 'text')
    return { is: 'compare', comparator: '=', left: expression, right: textConstant('true'), type: flag };
  if (kind !== 'flag' && kind !== 'bool')
    throw new SqlProblem(`Expected a condition, found ${describe(expression.type)}.`, place);
  if (!expression.type.isNullable) return expression;
  const yes: Expression = { is: 'constant', type: bool, value: true };
  return { is: 'compare', comparator: '=', left: expression, right: yes, type: flag };
}

const nonNull = (one: Expression): Expression => ({ ...one, type: nullable(one.type, false) });

/**
 * Returns the value that ClickHouse uses in place of a missing value, for example at a position outside of a list. The
 * value is null for types that have no empty value.
 */
export function emptyValue(type: SqlType): ConstantExpression {
  const values: Partial<Record<SqlType['kind'], string | number | boolean>> = {
    text: '',
    int: '0',
    float: 0,
    flag: false,
    bool: false,
  };
  const value = type.isNullable ? undefined : values[type.kind];
  return value === undefined ? { is: 'constant', type: nullable(type), value: null } : { is: 'constant', type, value };
}
