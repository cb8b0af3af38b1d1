// Resolves calls of functions in the function table: chooses the overload and determines the type of the result.

import type { Call, Node } from '../ast.ts';
import { type Argument, kindName, type SqlFunction } from '../functions/define.ts';
import { closestName, refusedFunctions, resolverFunctions, scalars, windows } from '../functions/index.ts';
import { type Place, SqlProblem } from '../problem.ts';
import type { Expression } from '../tree.ts';
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
  tupleOf,
  uuid,
} from '../types.ts';
import { formatConstants, patternConstants } from './patterns.ts';
import type { Scope } from './scope.ts';
import { convert, isConstant, rejectNestedList, textOf, toCondition } from './values.ts';

export interface At {
  scope: Scope;
  place: Place;
}

/** Resolves the calls of a function that is not in the function table, or whose result depends on more than types. */
export type CallResolver = (node: Call, scope: Scope) => Expression;

export const argumentsOf = (node: Call, scope: Scope): Expression[] =>
  node.args.map((arg) => scope.run.expression(arg, scope));

/** Looks up a function in the function table, and resolves the call. Does not handle aggregate functions. */
export function resolveFunction(name: string, args: readonly Node[], at: At): Expression {
  const options = scalars.get(name) ?? [];
  const lambda = options.find((one) => one.args[0]?.kind === 'lambda' || one.args[0]?.kind === 'condition');
  if (lambda !== undefined && (args[0]?.node === 'Lambda' || options.length === 1)) return withLambda(lambda, args, at);
  return applyFunction(
    name,
    args.map((arg) => at.scope.run.expression(arg, at.scope)),
    at,
  );
}

/** Resolves a call whose arguments are already resolved. @throws SqlProblem if no overload accepts them */
export function applyFunction(name: string, given: readonly Expression[], at: At): Expression {
  const { scope, place } = at;
  const options = scalars.get(name) ?? [];
  checkCount({ name, word: 'Function', place }, options, given.length);
  const [document, step] = given;
  if (document?.type.kind === 'json' && step?.type.kind === 'int' && options[0]?.args[1]?.kind === 'path')
    throw new SqlProblem('Properties can only be read by their name, not by a position.', place);
  for (const option of options) {
    const args = convertArguments(option, given, at);
    if (args === null) continue;
    const [first] = option.args.filter(({ kind }) => kind === 'pattern' || kind === 'format');
    const written = first === undefined ? args : translated(option, args, place);
    return { is: 'call', name, of: option, args: written, type: resultType(option, args, scope) };
  }
  throw wrongTypes({ name, place }, options, given);
}

/** Translates patterns and formats for both engines. The translations for ClickHouse are appended to the arguments. */
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

export function checkCount(called: Named, options: readonly SqlFunction[], found: number): void {
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

export function wrongTypes(
  { name, place }: { name: string; place: Place },
  options: readonly SqlFunction[],
  given: readonly Expression[],
): SqlProblem {
  const signatures = options.map(({ args }) => `(${args.map(({ kind }) => kindName(kind)).join(', ')})`);
  const wanted = [...new Set(signatures)].join(' or ');
  const found = given.map(({ type }) => describe(type)).join(', ');
  return new SqlProblem(`The function '${name}' takes ${wanted}, found ${found}.`, place);
}

/** Converts the arguments to the types in the signature. Returns null if an argument cannot be converted. */
export function convertArguments({ args }: SqlFunction, given: readonly Expression[], at: At): Expression[] | null {
  const last = args.at(-1);
  if (given.length > args.length && last?.isRepeated !== true) return null;
  if (given.length < args.filter(({ isOptional, isRepeated }) => !isOptional && !isRepeated).length) return null;
  const element = args[0]?.kind === 'array' ? given[0]?.type.element : undefined;
  const fitted: Expression[] = [];
  for (const [position, one] of given.entries()) {
    const wanted = args[position] ?? last;
    const place = at.scope.run.places.get(one)?.place ?? at.place;
    const converted =
      wanted === undefined ? null : fitOne(one, wanted, { element, place, zone: at.scope.run.settings.zone });
    if (converted === null) return null;
    fitted.push(converted);
  }
  return fitted;
}

/** Maximum length of a padded string, and maximum number of times that a string can be repeated. */
const longestText = 1000;

const kinds: Record<string, SqlType> = { text, float, int: int(), flag, bool, date, uuid, time: time('UTC') };

function fitOne(
  one: Expression,
  { kind }: Argument,
  { element, place, zone }: { element: SqlType | undefined; place: Place; zone: string },
): Expression | null {
  const { type } = one;
  switch (kind) {
    case 'anything':
      return type.kind === 'interval' ? null : one;
    case 'comparable':
      if (type.kind === 'json') return convert(one, text);
      return ['interval', 'tuple', 'array'].includes(type.kind) ? null : one;
    case 'lambda':
      return null;
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
      return type.element === undefined ? null : convert(one, arrayOf(nullable(wanted, type.element.isNullable)));
    }
    case 'document':
      return type.kind === 'json' || type.kind === 'text' ? one : null;
    case 'path':
      return isConstant(one) && (type.kind === 'text' || (type.kind === 'int' && one.value !== '0')) ? one : null;
    case 'small':
      if (!isConstant(one) || type.kind !== 'int' || Number(one.value) < 0 || Number(one.value) > longestText)
        throw new SqlProblem(`The length must be a constant whole number from 0 to ${longestText}.`, place);
      return one;
    case 'character':
      if (Array.from(textOf(one) ?? '').length !== 1)
        throw new SqlProblem('The separator must be a constant text of one character. Or use splitByString.', place);
      return one;
    case 'separator':
      if (!textOf(one)) throw new SqlProblem('The separator or name must be a constant text that is not empty.', place);
      return one;
    case 'like':
      if (/(?<!\\)(?:\\\\)*\\$/.test(textOf(one) ?? ''))
        throw new SqlProblem('A pattern of LIKE must not end with a backslash.', place);
      return convert(one, text);
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
      return type.kind === 'time' || type.kind === 'date' ? convert(one, time(zone)) : null;
    default:
      return convert(one, kinds[kind] ?? text);
  }
}

export function resultType({ result, nulls }: SqlFunction, args: readonly Expression[], scope: Scope): SqlType {
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
      return args.find(({ type }) => type.kind === 'array')?.type.element ?? nothing;
    case 'pairs':
      return arrayOf(tupleOf([text, text]));
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
  checkBounds({ name: of.name, word: 'Function', place }, [2, 100], rest.length + 1);
  if (first?.node !== 'Lambda' || first.args.length !== rest.length)
    throw new SqlProblem(
      `The function '${of.name}' expects a lambda with one parameter per array, such as x -> x > 1.`,
      place,
    );
  const lists = rest.map((one) => scope.run.expression(one, scope));
  if (lists.some(({ type }) => type.kind !== 'array'))
    throw new SqlProblem(`The function '${of.name}' expects an array.`, place);
  const id = scope.run.nextNumber();
  const parameters = lists.map(({ type }) => ({
    is: 'parameter' as const,
    id: scope.run.nextNumber(),
    lambda: id,
    type: type.element ?? nothing,
  }));
  const named = first.args.flatMap((name, at): [string, Expression][] => {
    const parameter = parameters[at];
    return parameter === undefined ? [] : [[name, parameter]];
  });
  const inner: Scope = { ...scope, parameters: new Map([...scope.parameters, ...named]) };
  const found = scope.run.expression(first.expr, inner);
  const body = of.args[0]?.kind === 'condition' ? toCondition(found, first.place) : found;
  if (of.result === 'body[]') rejectNestedList(body.type, first.place);
  const lambda: Expression = { is: 'lambda', id, parameters: parameters.map((one) => one.id), body, type: body.type };
  const args = [lambda, ...lists];
  return { is: 'call', name: of.name, of, args, type: resultType(of, args, scope) };
}

export function mapList(list: Expression, lambda: Expression, { scope, place }: At): Expression {
  const [of] = scalars.get('arrayMap') ?? [];
  if (of === undefined) throw new Error('The function arrayMap is missing.');
  rejectNestedList(lambda.type, place);
  const args = [lambda, list];
  return { is: 'call', name: 'arrayMap', of, args, type: resultType(of, args, scope) };
}

/** Throws the SqlProblem for a function that does not exist or is not supported. */
export function unknownFunction(name: string, place: Place): never {
  const refused = refusedFunctions.get(name);
  if (refused !== undefined) throw new SqlProblem(refused, place);
  if (name.toLowerCase() === 'on') throw new SqlProblem('DISTINCT ON is not supported. Use LIMIT 1 BY.', place);
  if (windows.has(name)) throw new SqlProblem(`The function '${name}' needs an OVER clause.`, place);
  const close = closestName(name);
  const hint = close === null ? '' : ` Perhaps you meant '${close}(...)'?`;
  throw new SqlProblem(`Unsupported function call '${name}(...)'.${hint}`, place);
}

export const isKnown = (name: string) => scalars.has(name) || resolverFunctions.has(name);
