// Resolves functions that choose between values, compare values or combine them.

import type { Node } from '../ast.ts';
import { printed } from '../names.ts';
import { type Place, SqlProblem } from '../problem.ts';
import type { Expression } from '../tree.ts';
import { arrayOf, flag, nullable, text, tupleOf } from '../types.ts';
import { applyFunction, argumentsOf, type CallResolver, resolveFunction } from './calls.ts';
import { compare, not, resolveComparison } from './comparisons.ts';
import { convertToCommonType, rejectNestedList, textConstant, textOf, toCondition } from './values.ts';

const choice = (cases: { when: Expression; result: Expression }[], otherwise: Expression, place: Place): Expression => {
  const { type, parts } = convertToCommonType(
    [...cases.map(({ result }) => result), otherwise],
    place,
    'All results of a condition',
  );
  const last = parts.at(-1) ?? otherwise;
  return {
    is: 'choice',
    cases: cases.map(({ when }, at) => ({ when, result: parts[at] ?? last })),
    otherwise: last,
    type,
  };
};

/** Resolves `if(c, a, b)` and `multiIf(c, a, d, b, e)`. */
const chooses: CallResolver = (node, scope) => {
  if (node.args.length % 2 === 0)
    throw new SqlProblem(`Function '${node.name}' expects an odd number of arguments.`, node.place);
  const given = argumentsOf(node, scope);
  const cases = [];
  for (let at = 0; at + 1 < given.length; at += 2) {
    const [when, result] = [given[at], given[at + 1]];
    if (when !== undefined && result !== undefined)
      cases.push({ when: toCondition(when, node.args[at]?.place ?? node.place), result });
  }
  return choice(cases, given.at(-1) as Expression, node.place);
};

/** Resolves `CASE x WHEN a THEN b ELSE c END`. */
const caseOf: CallResolver = (node, scope) => {
  const [value, ...rest] = argumentsOf(node, scope);
  if (value === undefined) throw new SqlProblem('CASE needs a value.', node.place);
  const name = printed(node.args[0] as Node);
  const cases = [];
  for (let at = 0; at + 1 < rest.length; at += 2) {
    const [when, result] = [rest[at], rest[at + 1]];
    if (when === undefined || result === undefined) continue;
    cases.push({ when: compare(value, when, { comparator: '=', place: node.place, name }), result });
  }
  return choice(cases, rest.at(-1) as Expression, node.place);
};

const coalesces: CallResolver = (node, scope) => {
  const { type, parts } = convertToCommonType(argumentsOf(node, scope), node.place, `The arguments of '${node.name}'`);
  const isNullable = parts.every((part) => part.type.isNullable);
  const cases = parts.slice(0, -1).map((part): { when: Expression; result: Expression } => ({
    when: not({ is: 'null', part, type: flag }),
    result: part,
  }));
  return { is: 'choice', cases, otherwise: parts.at(-1) as Expression, type: nullable(type, isNullable) };
};

const nullIf: CallResolver = (node, scope) => {
  const [value, other] = argumentsOf(node, scope);
  if (value === undefined || other === undefined) throw new SqlProblem('nullIf needs two arguments.', node.place);
  const when = compare(value, other, { comparator: '=', place: node.place, name: printed(node.args[0] as Node) });
  const none: Expression = { is: 'constant', type: nullable(value.type, true), value: null };
  return { is: 'choice', cases: [{ when, result: none }], otherwise: value, type: nullable(value.type, true) };
};

/** Returns the least or greatest argument, or null if any argument is null. */
const extreme =
  (comparator: '<=' | '>='): CallResolver =>
  (node, scope) => {
    const { type, parts } = convertToCommonType(
      argumentsOf(node, scope),
      node.place,
      `The arguments of '${node.name}'`,
    );
    const missing = parts.filter((part) => part.type.isNullable);
    const none: Expression = { is: 'constant', type: nullable(type, true), value: null };
    const cases = missing.map((part): { when: Expression; result: Expression } => ({
      when: { is: 'null', part, type: flag },
      result: none,
    }));
    for (const [at, part] of parts.slice(0, -1).entries()) {
      const tests = parts
        .filter((_, other) => other !== at)
        .map((right): Expression => ({ is: 'compare', comparator, left: part, right, type: flag }));
      cases.push({ when: { is: 'all', parts: tests, type: flag }, result: part });
    }
    return { is: 'choice', cases, otherwise: parts.at(-1) as Expression, type };
  };

const logic =
  (is: 'all' | 'any'): CallResolver =>
  (node, scope) => ({
    is,
    parts: node.args.map((arg) => toCondition(scope.run.expression(arg, scope), arg.place)),
    type: flag,
  });

/** Resolves `transform(x, from, to, otherwise)`. */
const transform: CallResolver = (node, scope) => {
  const [value, from, to, otherwise] = argumentsOf(node, scope);
  if (
    value === undefined ||
    otherwise === undefined ||
    from?.is !== 'array' ||
    to?.is !== 'array' ||
    from.parts.length !== to.parts.length
  )
    throw new SqlProblem(
      "Function 'transform' expects a value, two lists of the same length and a default.",
      node.place,
    );
  const name = printed(node.args[0] as Node);
  const cases = from.parts.map((part, at) => ({
    when: compare(value, part, { comparator: '=', place: node.place, name }),
    result: to.parts[at] as Expression,
  }));
  return choice(cases, otherwise, node.place);
};

export function arrayNode(parts: readonly Expression[], place: Place): Expression {
  if (parts.length === 0) return { is: 'array', parts: [], type: arrayOf({ kind: 'nothing', isNullable: false }) };
  const { type, parts: converted } = convertToCommonType(parts, place, 'The elements of an array');
  rejectNestedList(type, place);
  return { is: 'array', parts: converted, type: arrayOf(type) };
}

const tuple: CallResolver = (node, scope) => {
  const parts = argumentsOf(node, scope);
  return { is: 'tuple', parts, type: tupleOf(parts.map(({ type }) => type)) };
};

const comparing =
  (comparator: '=' | '<>' | '<' | '<=' | '>' | '>='): CallResolver =>
  (node, scope) => {
    const [left, right] = argumentsOf(node, scope);
    return compare(left as Expression, right as Expression, {
      comparator,
      place: node.place,
      name: printed(node.args[0] as Node),
    });
  };

const isNull: CallResolver = (node, scope) => ({
  is: 'null',
  part: argumentsOf(node, scope)[0] as Expression,
  type: flag,
});

/** Resolves `format('{} of {}', a, b)` and `format('{1} {0}', a, b)`, which insert values into a constant string. */
const format: CallResolver = (node, scope) => {
  const { place } = node;
  const [first, ...args] = argumentsOf(node, scope);
  const written = textOf(first);
  if (written === null) throw new SqlProblem("The first argument of 'format' must be a constant text.", place);
  const used = new Set<number>();
  const parts = written.split(/(\{\{|\}\}|\{\d*\}|[{}])/).map((piece): Expression => {
    if (piece === '{' || piece === '}')
      throw new SqlProblem(`A single ${piece} in a format must be written as ${piece}${piece}.`, place);
    const [, index] = /^\{(\d*)\}$/.exec(piece) ?? [];
    if (index === undefined) return textConstant(piece === '{{' || piece === '}}' ? piece.charAt(0) : piece);
    const at = index === '' ? used.size : Number(index);
    const arg = args[at];
    if (arg === undefined) throw new SqlProblem(`The format has no argument for ${piece}.`, place);
    used.add(at);
    return arg;
  });
  if (used.size < args.length) throw new SqlProblem('The format does not use all arguments.', place);
  const result = applyFunction('concat', parts, { scope, place });
  const nulls = args.filter(({ type }) => type.isNullable);
  if (nulls.length === 0) return result;
  const cases = nulls.map((part) => ({
    when: { is: 'null', part, type: flag } as const,
    result: { is: 'constant', type: nullable(text), value: null } as const,
  }));
  return { is: 'choice', cases, otherwise: result, type: nullable(text) };
};

/** Unlike other functions with a pattern, `splitByRegexp` takes it as its first argument. */
const splitByRegexp: CallResolver = (node, scope) => {
  const [pattern, value] = node.args as [Node, Node];
  return resolveFunction('splitByRegexp', [value, pattern], { scope, place: node.place });
};

export const conditionals: ReadonlyMap<string, CallResolver> = new Map<string, CallResolver>([
  ...([
    ['if', chooses],
    ['multiIf', chooses],
    ['_caseWithExpression', caseOf],
    ['coalesce', coalesces],
  ] as const),
  ...([
    ['ifNull', coalesces],
    ['nullIf', nullIf],
    ['least', extreme('<=')],
    ['greatest', extreme('>=')],
  ] as const),
  ...([
    ['and', logic('all')],
    ['or', logic('any')],
    ['isNull', isNull],
  ] as const),
  ['isNotNull', (node, scope) => not(isNull(node, scope))],
  ['not', (node, scope) => not(toCondition(argumentsOf(node, scope)[0] as Expression, node.place))],
  ['transform', transform],
  ['tuple', tuple],
  ['format', format],
  ['splitByRegexp', splitByRegexp],
  ['array', (node, scope) => arrayNode(argumentsOf(node, scope), node.place)],
  ...([
    ['equals', comparing('=')],
    ['notEquals', comparing('<>')],
    ['less', comparing('<')],
  ] as const),
  ...([
    ['lessOrEquals', comparing('<=')],
    ['greater', comparing('>')],
    ['greaterOrEquals', comparing('>=')],
  ] as const),
  ...(['in', 'notIn', 'notILike'] as const).map((name): [string, CallResolver] => [
    name,
    (node, scope) => {
      const [left, right] = node.args as [Node, Node];
      const op = { in: 'in', notIn: 'not in', notILike: 'not ilike' }[name];
      return resolveComparison({ node: 'CompareOperation', op, left, right, place: node.place }, scope);
    },
  ]),
  ['notLike', (node, scope) => not(resolveFunction('like', node.args, { scope, place: node.place }))],
]);
