// Resolves calls of functions in the function table: chooses the overload, and determines the type of the result.

import type { Call, Node } from '../ast.ts';
import type { Argument, SqlFunction } from '../functions/define.ts';
import {
  aggregates,
  canonicalName,
  closestName,
  otherNames,
  refusedFunctions,
  scalars,
  special,
  windows,
} from '../functions/index.ts';
import { type Place, SqlProblem } from '../problem.ts';
import { type CallExpression, type Expression, someOf } from '../tree.ts';
import {
  arrayOf,
  bool,
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
import { formatConstants, patternConstants } from './patterns.ts';
import { nestedAggregate, type Scope } from './scope.ts';
import { condition, convert, isConstant, refuseNested, textOf } from './values.ts';

export interface At {
  scope: Scope;
  place: Place;
}

/** Resolves a call of a function that is not an aggregate, by its name in the table. */
export function generic(name: string, args: readonly Node[], at: At): Expression {
  const options = scalars.get(name) ?? [];
  const lambda = options.find((one) => one.args[0]?.kind === 'lambda' || one.args[0]?.kind === 'condition');
  if (lambda !== undefined) return withLambda(lambda, args, at);
  return apply(
    name,
    args.map((arg) => at.scope.run.expression(arg, at.scope)),
    at,
  );
}

/** Resolves a call with resolved arguments. @throws SqlProblem when no overload accepts them. */
export function apply(name: string, given: readonly Expression[], at: At): Expression {
  const { scope, place } = at;
  const options = scalars.get(name) ?? [];
  checkCount({ name, word: 'Function', place }, options, given.length);
  const [document, step] = given;
  if (document?.type.kind === 'json' && step?.type.kind === 'int' && options[0]?.args[1]?.kind === 'path')
    throw new SqlProblem('Properties can only be read by their name, not by a position.', place);
  for (const option of options) {
    const args = fit(option, given, at);
    if (args === null) continue;
    const [first] = option.args.filter(({ kind }) => kind === 'pattern' || kind === 'format');
    const written = first === undefined ? args : translated(option, args, place);
    return { is: 'call', name, of: option, args: written, type: resultOf(option, args, scope) };
  }
  throw wrongTypes({ name, place }, options, given);
}

/** Translates patterns and formats for both engines; those for ClickHouse follow the arguments. */
function translated(option: SqlFunction, args: readonly Expression[], place: Place): Expression[] {
  const [subject = args[0] as Expression, second, ...others] = args;
  const kinds = option.args.map(({ kind }) => kind);
  if (kinds[1] === 'format') return [subject, ...formatConstants(textOf(second), place)];
  const replacement = kinds[2] === 'replacement' ? textOf(others[0]) : undefined;
  return [subject, ...patternConstants({ pattern: textOf(second), replacement, name: option.name }, place)];
}

interface Named {
  name: string;
  place: Place;
  word: 'Function' | 'Aggregation';
}

function checkCount(called: Named, options: readonly SqlFunction[], found: number): void {
  const counts = options.map(({ args }) => ({
    least: args.filter(({ kind, isOptional }) => !isOptional && kind !== 'path').length,
    most: args.some(({ isRepeated }) => isRepeated) ? Number.POSITIVE_INFINITY : args.length,
  }));
  const least = Math.min(...counts.map((one) => one.least));
  const most = Math.max(...counts.map((one) => one.most));
  checkBounds(called, [least, most], found);
}

export function checkBounds(
  { name, word, place }: Named,
  [least, most]: readonly [number, number],
  found: number,
): void {
  if (found >= least && found <= most) return;
  const expected = least === most ? `${least}` : found < least ? `at least ${least}` : `at most ${most}`;
  throw new SqlProblem(
    `${word} '${name}' expects ${expected} ${expected.endsWith(' 1') || expected === '1' ? 'argument' : 'arguments'}, found ${found}`,
    place,
  );
}

function wrongTypes(
  { name, place }: { name: string; place: Place },
  options: readonly SqlFunction[],
  given: readonly Expression[],
): SqlProblem {
  const wanted = options.map(({ args }) => args.map(({ kind }) => kind).join(', ')).join(' or ');
  const found = given.map(({ type }) => describe(type)).join(', ');
  return new SqlProblem(`The function '${name}' takes (${wanted}), found ${found}.`, place);
}

/** Converts the arguments to the types of the signature; null if one does not fit. */
function fit({ args }: SqlFunction, given: readonly Expression[], at: At): Expression[] | null {
  const last = args.at(-1);
  if (given.length > args.length && last?.isRepeated !== true) return null;
  if (given.length < args.filter(({ isOptional, isRepeated }) => !isOptional && !isRepeated).length) return null;
  const element = args[0]?.kind === 'array' ? given[0]?.type.element : undefined;
  const fitted: Expression[] = [];
  for (const [position, one] of given.entries()) {
    const wanted = args[position] ?? last;
    const place = at.scope.run.places.get(one)?.place ?? at.place;
    const converted = wanted === undefined ? null : fitOne(one, wanted, { element, place });
    if (converted === null) return null;
    fitted.push(converted);
  }
  return fitted;
}

/** Maximum length of padded texts, and of repetitions. */
const longestText = 1000;

const kinds: Record<string, SqlType> = { text, float, int: int(), flag, bool, date, uuid, time: time('UTC') };

function fitOne(
  one: Expression,
  { kind }: Argument,
  { element, place }: { element: SqlType | undefined; place: Place },
): Expression | null {
  const { type } = one;
  switch (kind) {
    case 'anything':
    case 'comparable':
      return type.kind === 'interval' || (kind === 'comparable' && (type.kind === 'tuple' || type.kind === 'array'))
        ? null
        : one;
    case 'moment':
      return type.kind === 'date' || type.kind === 'time' ? one : null;
    case 'array':
      return type.kind === 'array' ? one : null;
    case 'list':
      return type.kind === 'array' && element !== undefined ? convert(one, arrayOf(element)) : null;
    case 'element':
      return element === undefined ? null : convert(one, element);
    case 'int[]':
    case 'float[]':
    case 'text[]': {
      const wanted = kinds[kind.slice(0, -2)] ?? text;
      return type.kind === 'array' ? convert(one, arrayOf(wanted)) : null;
    }
    case 'document':
      return type.kind === 'json' || type.kind === 'text' ? one : null;
    case 'path':
      return isConstant(one) && (type.kind === 'text' || (type.kind === 'int' && one.value !== '0')) ? one : null;
    case 'small':
      if (!isConstant(one) || type.kind !== 'int' || Number(one.value) < 0 || Number(one.value) > longestText)
        throw new SqlProblem(`The length must be a constant whole number from 0 to ${longestText}.`, place);
      return one;
    case 'separator':
      if (!textOf(one)) throw new SqlProblem('The separator or name must be a constant text that is not empty.', place);
      return one;
    case 'pattern':
    case 'format':
    case 'replacement':
      if (textOf(one) === null)
        throw new SqlProblem(
          `The ${kind} must be a constant text (functions such as match take no expression here).`,
          place,
        );
      return one;
    case 'time':
      return type.kind === 'time' || type.kind === 'date' ? convert(one, time('UTC')) : null;
    default:
      return convert(one, kinds[kind] ?? text);
  }
}

/** Returns the type of a result that the signature names. */
function resultOf({ result, nulls }: SqlFunction, args: readonly Expression[], scope: Scope): SqlType {
  const [first] = args;
  const isNullable = nulls === 'always' || (nulls === 'pass' && args.some(({ type }) => type.isNullable));
  return nullable(
    bareResult(result, first?.type ?? nothing, { args, zone: zoneOf(args) ?? scope.run.settings.zone }),
    isNullable,
  );
}

const zoneOf = (args: readonly Expression[]) => args.find(({ type }) => type.kind === 'time')?.type.zone;

function bareResult(
  word: string,
  first: SqlType,
  { args, zone }: { args: readonly Expression[]; zone: string },
): SqlType {
  switch (word) {
    case 'int':
      return int();
    case 'total':
      return int(first.integer?.startsWith('U') || first.kind === 'flag' ? 'UInt64' : 'Int64');
    case 'count':
      return int('UInt64');
    case 'part':
      return int('UInt8');
    case 'seconds':
      return int('UInt32');
    case 'start':
      return time(zone, false);
    case 'time':
      return time(zone, first.kind === 'time' ? first.hasFraction : false);
    case 'same':
      return nullable(first, false);
    case 'array':
      return first.kind === 'array' ? first : arrayOf(nullable(first, false));
    case 'list':
      return args[1]?.type ?? nothing;
    case 'item':
      return args[1]?.type.element ?? nothing;
    case 'body[]':
      return arrayOf(first);
    case 'longs':
      return arrayOf(int());
    case 'numbers':
      return arrayOf(int('UInt64'));
    case 'text[]':
      return arrayOf(text);
    case 'float[]':
      return arrayOf(float);
    default:
      return kinds[word] ?? text;
  }
}

function withLambda(of: SqlFunction, [first, ...rest]: readonly Node[], { scope, place }: At): Expression {
  checkBounds({ name: of.name, word: 'Function', place }, [2, 2], rest.length + 1);
  if (first?.node !== 'Lambda' || first.args.length !== 1)
    throw new SqlProblem(`The function '${of.name}' expects a lambda with one parameter, such as x -> x > 1.`, place);
  const list = scope.run.expression(rest[0] as Node, scope);
  if (list.type.kind !== 'array') throw new SqlProblem(`The function '${of.name}' expects an array.`, place);
  const id = scope.run.nextNumber();
  const parameter: Expression = { is: 'parameter', id, type: list.type.element ?? nothing };
  const inner: Scope = { ...scope, parameters: new Map([...scope.parameters, [first.args[0] ?? '', parameter]]) };
  const found = scope.run.expression(first.expr, inner);
  const body = of.args[0]?.kind === 'condition' ? condition(found, first.place) : found;
  if (of.result === 'body[]') refuseNested(body.type, first.place);
  const lambda: Expression = { is: 'lambda', parameter: id, body, type: body.type };
  const args = [lambda, list];
  return { is: 'call', name: of.name, of, args, type: resultOf(of, args, scope) };
}

/** Resolves an aggregate, also one with the suffix `If`. */
export function resolveAggregate(node: Call, scope: Scope, isWindow = false): CallExpression | null {
  const { place } = node;
  const written = canonicalName(node.name);
  const isIf = !aggregates.has(written) && !otherNames.has(written) && written.endsWith('If');
  const base = isIf ? written.slice(0, -2) : written;
  const name = otherNames.get(base) ?? base;
  const options = aggregates.get(name);
  if (options === undefined) return null;
  if (scope.aggregate !== null && !isWindow) throw nestedAggregate(written, scope.aggregate, place);
  if (scope.withoutAggregates !== null)
    throw new SqlProblem(`Aggregation '${written}' is not allowed in ${scope.withoutAggregates}. Use HAVING.`, place);
  const inner: Scope = isWindow ? scope : { ...scope, aggregate: written };
  const nodes = node.args.filter((arg) => !(arg.node === 'Field' && arg.chain[0] === '*'));
  const conditionNode = isIf ? nodes.pop() : undefined;
  if (isIf && conditionNode === undefined)
    throw new SqlProblem(`Aggregation '${written}' expects at least 1 argument, found 0`, place);
  const given = nodes.map((arg) => scope.run.expression(arg, inner));
  const filters =
    conditionNode === undefined ? [] : [condition(scope.run.expression(conditionNode, inner), conditionNode.place)];
  const isUnique = node.distinct === true && name === 'groupArray';
  const isDistinct = node.distinct === true && name === 'count' && given.length > 0;
  if (node.distinct === true && !isDistinct && !isUnique)
    throw new SqlProblem(`DISTINCT is only supported in count() and groupArray(), not in '${written}'.`, place);
  if (!isDistinct) checkCount({ name: written, word: 'Aggregation', place }, options, given.length);
  const levels = levelsOf(node, written);
  const isZero = name === 'sum' && given[0]?.type.isNullable === false;
  const others = isDistinct ? 'uniqExact' : isUnique ? 'groupUniqArray' : isZero ? 'sumOrZero' : name;
  for (const of of aggregates.get(others) ?? []) {
    const args = fit(of, given, { scope, place });
    if (args === null) continue;
    if (args[0] !== undefined && of.result !== 'count') refuseNested(args[0].type, place);
    if (name === 'topK' && !args.some((arg) => someOf(arg, ({ is }) => is === 'column')))
      throw new SqlProblem("The function 'topK' needs a column.", place);
    const filter = filterOf(of, args, filters);
    const type = aggregateType(of, args, scope);
    return { is: 'call', name: of.name, of, args, type, ...(levels && { levels }), ...(filter && { filter }) };
  }
  throw wrongTypes({ name: written, place }, options, given);
}

/** Returns a filter that excludes rows with a null argument. */
function filterOf({ name }: SqlFunction, args: readonly Expression[], filters: Expression[]): Expression | null {
  const skipsNull = [
    'groupArray',
    'groupUniqArray',
    'topK',
    'argMax',
    'argMin',
    'quantile',
    'quantiles',
    'uniqExact',
  ].includes(name);
  const parts = [...filters];
  for (const arg of skipsNull ? args : [])
    if (arg.type.isNullable) parts.push({ is: 'not', part: { is: 'null', part: arg, type: flag }, type: flag });
  const [only] = parts;
  return parts.length > 1 ? { is: 'all', parts, type: flag } : (only ?? null);
}

/**
 * Returns the type of an aggregate. Over no rows, aggregates are null, except counts, lists and the sum of values that
 * are never null.
 */
function aggregateType(of: SqlFunction, args: readonly Expression[], scope: Scope): SqlType {
  const type = resultOf(of, args, scope);
  if (of.nulls === 'never' || type.kind === 'array') return type;
  return nullable(type, true);
}

function levelsOf({ params, place, args, name }: Call, written: string): number[] | null {
  const base = written.replace(/If$/, '');
  if (base === 'median') return [0.5];
  if (base === 'topK') {
    const [count = 10, ...rest] = (params ?? []).map((one) =>
      one.node === 'Constant' ? Number(one.value) : Number.NaN,
    );
    if (!Number.isSafeInteger(count) || count < 1 || count > 100 || rest.length > 0)
      throw new SqlProblem("The function 'topK' expects a number from 1 to 100, for example topK(5)(x).", place);
    return [count];
  }
  if (base !== 'quantile' && base !== 'quantiles') {
    if (params !== undefined) throw new SqlProblem(`The function '${name}' takes no parameters.`, place);
    return null;
  }
  const levels = (params ?? []).map((one) => (one.node === 'Constant' ? one.value : null));
  const isValid = levels.every((level) => typeof level === 'number' && level >= 0 && level <= 1);
  if (!isValid || levels.length === 0 || (base === 'quantile' && levels.length > 1) || args.length === 0)
    throw new SqlProblem(`The function '${base}' expects levels from 0 to 1, for example ${base}(0.5)(x).`, place);
  return levels as number[];
}

/** Rejects a function that does not exist or is not supported. @throws SqlProblem always */
export function unknownFunction(name: string, place: Place): never {
  const refused = refusedFunctions.get(name);
  if (refused !== undefined) throw new SqlProblem(refused, place);
  if (windows.has(name)) throw new SqlProblem(`The function '${name}' needs an OVER clause.`, place);
  const close = closestName(name);
  const hint = close === null ? '' : ` Perhaps you meant '${close}(...)'?`;
  throw new SqlProblem(`Unsupported function call '${name}(...)'.${hint}`, place);
}

export const isKnown = (name: string) => scalars.has(name) || special.has(name);
