// Resolves time functions that depend on the project, on a unit or on the current time.

import { createTimeZone, isTimeZone } from '@millrace/schedule';
import { type Place, SqlProblem } from '../problem.ts';
import type { Expression } from '../tree.ts';
import { describe, interval, isMoment, isNumber, type TimeUnit, time, timeUnits } from '../types.ts';
import { type At, applyFunction, argumentsOf, type CallResolver } from './calls.ts';
import { toDateTime } from './conversions.ts';
import type { Scope } from './scope.ts';
import { convert, dateConstant, intConstant, isConstant, readDate, textOf, timeConstant } from './values.ts';

const dayMs = 86_400_000;

/** Returns the local date on which the query runs, plus a number of days. */
function today(scope: Scope, days: number): Expression {
  const { now, zone } = scope.run.settings;
  return dateConstant(new Date(createTimeZone(zone).toWallTime(now) + days * dayMs).toISOString().slice(0, 10));
}

function unitOf(argument: Expression | undefined, name: string, place: Place): TimeUnit {
  const written = textOf(argument)?.toLowerCase().replace(/s$/, '');
  const unit = timeUnits.find((one) => one === written);
  if (unit === undefined)
    throw new SqlProblem(`The unit of '${name}' must be one of ${timeUnits.join(', ')} as a constant text.`, place);
  return unit;
}

/** Resolves a value to a date or a time. The value can also be a string literal. */
function moment(value: Expression | undefined, { scope, place }: At): Expression {
  const found = value !== undefined && textOf(value) !== null ? convert(value, time(scope.run.settings.zone)) : value;
  if (found === undefined || found === null || !isMoment(found.type))
    throw new SqlProblem(
      `Expected a date or a time, found ${value === undefined ? 'nothing' : describe(value.type)}.`,
      place,
    );
  return found;
}

const difference =
  (prefix: 'diff' | 'age'): CallResolver =>
  (node, scope) => {
    const at = { scope, place: node.place };
    const [unit, from, to] = argumentsOf(node, scope);
    const name = `${prefix}_${unitOf(unit, node.name, node.args[0]?.place ?? node.place)}`;
    const [first, second] = [moment(from, at), moment(to, at)];
    const isMixed = first.type.kind !== second.type.kind;
    const isExact = /_(second|minute|hour)$/.test(name);
    const zone = first.type.zone ?? second.type.zone ?? scope.run.settings.zone;
    const sides = isMixed || isExact ? [first, second].map((one) => convert(one, time(zone)) ?? one) : [first, second];
    return applyFunction(name, sides, at);
  };

function shift(value: Expression, { unit, count }: { unit: TimeUnit; count: Expression }, at: At): Expression {
  const isDay = ['day', 'week', 'month', 'quarter', 'year'].includes(unit);
  const given = moment(value, at);
  const sum = isDay || given.type.kind === 'time' ? given : convert(given, time(at.scope.run.settings.zone, false));
  return applyFunction(`add_${unit}`, [sum ?? given, count], at);
}

const negated = (count: Expression, at: At): Expression =>
  isConstant(count) && count.type.kind === 'int'
    ? intConstant(-Number(count.value))
    : applyFunction('negate', [count], at);

const adds =
  (unit: TimeUnit, isMinus: boolean): CallResolver =>
  (node, scope) => {
    const at = { scope, place: node.place };
    const [value, count] = argumentsOf(node, scope);
    if (value === undefined || count === undefined)
      throw new SqlProblem(`Function '${node.name}' expects 2 arguments, found ${node.args.length}`, node.place);
    return shift(value, { unit, count: isMinus ? negated(count, at) : count }, at);
  };

/** Resolves functions such as `dateAdd('day', 3, t)`. */
const dateAdd =
  (isMinus: boolean): CallResolver =>
  (node, scope) => {
    const at = { scope, place: node.place };
    const [unit, count, value] = argumentsOf(node, scope);
    if (value === undefined || count === undefined)
      throw new SqlProblem(`Function '${node.name}' expects 3 arguments.`, node.place);
    const of = unitOf(unit, node.name, node.args[0]?.place ?? node.place);
    return shift(value, { unit: of, count: isMinus ? negated(count, at) : count }, at);
  };

/** Resolves an interval to its number of units. The type of the expression contains the unit. */
const toInterval =
  (unit: TimeUnit): CallResolver =>
  (node, scope) => {
    const [given] = argumentsOf(node, scope);
    const written = /^\d{1,9}$/.exec(textOf(given) ?? '');
    // `INTERVAL '1' DAY` means the same as `INTERVAL 1 DAY`.
    const count = written === null ? given : intConstant(Number(written[0]));
    if (count === undefined || count.type.kind !== 'int')
      throw new SqlProblem('An interval must be a whole number.', node.place);
    return { ...count, type: interval(unit) };
  };

const intOf = (one: Expression): Expression => ({ ...one, type: { kind: 'int', isNullable: false, integer: 'Int64' } });

const startFunctions: Record<TimeUnit, string> = {
  second: 'toStartOfSecond',
  minute: 'toStartOfMinute',
  hour: 'toStartOfHour',
  day: 'toStartOfDay',
  week: 'toMonday',
  month: 'toStartOfMonth',
  quarter: 'toStartOfQuarter',
  year: 'toStartOfYear',
};

const truncate: CallResolver = (node, scope) => {
  const at = { scope, place: node.place };
  const [unit, value] = argumentsOf(node, scope);
  return applyFunction(
    startFunctions[unitOf(unit, node.name, node.args[0]?.place ?? node.place)],
    [moment(value, at)],
    at,
  );
};

/** Reads the mode of a week function. Weeks begin on Sunday in mode 0, and on Monday in all other modes. */
function weekMode(mode: Expression, supported: readonly number[], { place }: At): number {
  const found = supported.find((one) => isConstant(mode) && mode.type.kind === 'int' && Number(mode.value) === one);
  if (found === undefined)
    throw new SqlProblem(`The mode of a week must be a constant, one of ${supported.join(', ')}.`, place);
  return found;
}

const startOfWeek: CallResolver = (node, scope) => {
  const at = { scope, place: node.place };
  const [value, mode] = argumentsOf(node, scope);
  const isSunday = mode === undefined ? scope.run.settings.weekStart === 0 : weekMode(mode, [0, 1, 3], at) === 0;
  return applyFunction(isSunday ? 'toSunday' : 'toMonday', [moment(value, at)], at);
};

/** Resolves `toWeek(t)` and, for ISO weeks, `toWeek(t, 3)`. */
const week: CallResolver = (node, scope) => {
  const at = { scope, place: node.place };
  const [value, mode] = argumentsOf(node, scope);
  const isIso = mode !== undefined && weekMode(mode, [0, 3], at) === 3;
  return applyFunction(isIso ? 'toISOWeek' : 'toWeek', [moment(value, at)], at);
};

/**
 * The Monday that intervals of several weeks are counted from. Intervals of several days are counted from 1970-01-01.
 */
const firstMonday = '1970-01-05';
const longestIntervalDays = 3660;

const startOfInterval: CallResolver = (node, scope) => {
  const at = { scope, place: node.place };
  const [value, length] = argumentsOf(node, scope);
  const unit = length?.type.unit;
  const count = length !== undefined && isConstant(length) ? Number(length.value) : null;
  if (unit === undefined || count === null || count < 1)
    throw new SqlProblem('toStartOfInterval expects a constant interval, such as INTERVAL 15 MINUTE.', node.place);
  if (count === 1) return applyFunction(startFunctions[unit], [moment(value, at)], at);
  const days = unit === 'day' ? count : unit === 'week' ? 7 * count : null;
  if (days !== null && days <= longestIntervalDays) {
    const origin = dateConstant(unit === 'week' ? firstMonday : '1970-01-01');
    const start = applyFunction('toStartOfDays', [moment(value, at), origin, intConstant(days)], at);
    return unit === 'week'
      ? start
      : (convert(start, time(value?.type.zone ?? scope.run.settings.zone, false)) ?? start);
  }
  const minutes = unit === 'minute' ? count : unit === 'hour' ? 60 * count : null;
  if (minutes === null || minutes > 1440)
    throw new SqlProblem(`toStartOfInterval does not support intervals of ${count} ${unit}s.`, node.place);
  return applyFunction('toStartOfMinutes', [moment(value, at), intConstant(minutes)], at);
};

const startOfMinutes =
  (minutes: number): CallResolver =>
  (node, scope) => {
    const at = { scope, place: node.place };
    return applyFunction('toStartOfMinutes', [moment(argumentsOf(node, scope)[0], at), intConstant(minutes)], at);
  };

function zoneIn(argument: Expression | undefined, place: Place): string {
  const zone = textOf(argument);
  if (zone === null || !isTimeZone(zone))
    throw new SqlProblem('Expected the name of a time zone, such as Europe/Berlin.', place);
  return zone;
}

const toZone: CallResolver = (node, scope) => {
  const at = { scope, place: node.place };
  const [value, zone] = argumentsOf(node, scope);
  const found = moment(value, at);
  const instant = found.type.kind === 'time' ? found : (convert(found, time(scope.run.settings.zone)) ?? found);
  return {
    is: 'cast',
    value: instant,
    type: { ...instant.type, zone: zoneIn(zone, node.args[1]?.place ?? node.place) },
  };
};

const dateTime: CallResolver = (node, scope) => {
  const [value, zone] = argumentsOf(node, scope);
  const name = zone === undefined ? scope.run.settings.zone : zoneIn(zone, node.args[1]?.place ?? node.place);
  return toDateTime(value as Expression, name, { scope, place: node.place });
};

/** Resolves `toDate`. A constant string is converted immediately. */
const toDate: CallResolver = (node, scope) => {
  const [value] = argumentsOf(node, scope);
  const written = textOf(value);
  if (written === null || value === undefined)
    return applyFunction('toDate', value === undefined ? [] : [value], { scope, place: node.place });
  const isDate = /^\d{4}-\d\d-\d\d( .*)?$/.test(written);
  return {
    is: 'constant',
    type: { kind: 'date', isNullable: true },
    value: isDate ? readDate(written.slice(0, 10)) : null,
  };
};

/** Resolves `+` and `-` with a date, a time or an interval. Returns null for other operands. */
export function momentArithmetic(
  op: string,
  [left, right]: readonly [Expression, Expression],
  at: At,
): Expression | null {
  if (op !== '+' && op !== '-') return null;
  const [lengthAt, value] = left.type.kind === 'interval' ? [left, right] : [right, left];
  if (lengthAt.type.kind === 'interval') {
    if (left.type.kind === 'interval' && op === '-')
      throw new SqlProblem('An interval must be on the right side of a minus.', at.place);
    const count = intOf(lengthAt);
    return shift(value, { unit: lengthAt.type.unit ?? 'day', count: op === '-' ? negated(count, at) : count }, at);
  }
  if (left.type.kind === 'date' && right.type.kind === 'date' && op === '-')
    return applyFunction('minus', [left, right], at);
  if (isMoment(left.type) && isNumber(right.type)) {
    const unit = left.type.kind === 'date' ? 'day' : 'second';
    return shift(left, { unit, count: op === '-' ? negated(right, at) : right }, at);
  }
  if (left.type.kind === 'time' && right.type.kind === 'time' && op === '-')
    return applyFunction('diff_second', [right, left], at);
  return null;
}

const unitResolvers = timeUnits.flatMap((unit): [string, CallResolver][] => {
  const word = `${unit[0]?.toUpperCase()}${unit.slice(1)}`;
  return [
    [`toInterval${word}`, toInterval(unit)],
    [`add${word}s`, adds(unit, false)],
    [`subtract${word}s`, adds(unit, true)],
  ];
});

export const moments: ReadonlyMap<string, CallResolver> = new Map<string, CallResolver>([
  ...unitResolvers,
  ['now', (_, scope) => timeConstant(scope.run.settings.now, scope.run.settings.zone)],
  ['today', (_, scope) => today(scope, 0)],
  ['yesterday', (_, scope) => today(scope, -1)],
  ...([
    ['dateDiff', difference('diff')],
    ['date_diff', difference('diff')],
    ['age', difference('age')],
  ] as const),
  ...([
    ['dateAdd', dateAdd(false)],
    ['date_add', dateAdd(false)],
    ['dateSub', dateAdd(true)],
    ['date_sub', dateAdd(true)],
  ] as const),
  ...([
    ['dateTrunc', truncate],
    ['date_trunc', truncate],
    ['toStartOfWeek', startOfWeek],
    ['toWeek', week],
  ] as const),
  ...([
    ['toStartOfInterval', startOfInterval],
    ['toStartOfFiveMinutes', startOfMinutes(5)],
  ] as const),
  ...([
    ['toStartOfTenMinutes', startOfMinutes(10)],
    ['toStartOfFifteenMinutes', startOfMinutes(15)],
    ['timeSlot', startOfMinutes(30)],
  ] as const),
  ...([
    ['toTimeZone', toZone],
    ['toDateTime', dateTime],
    ['toDate', toDate],
  ] as const),
]);
