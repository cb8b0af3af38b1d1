// Resolves comparisons. A comparison is never null: if one side is null, `=` is false and `!=` is true.

import type { Comparison, Node } from '../ast.ts';
import { printed } from '../names.ts';
import { type Place, SqlProblem } from '../problem.ts';
import { type Comparator, columnTypes, type Expression } from '../tree.ts';
import { describe, flag, type SqlType, tupleOf } from '../types.ts';
import { resolveFunction } from './calls.ts';
import type { Scope } from './scope.ts';
import { convert, convertToCommonType, isNull, textOf } from './values.ts';

const comparators: Record<string, Comparator> = { '==': '=', '!=': '<>', '<': '<', '<=': '<=', '>': '>', '>=': '>=' };

export function resolveComparison(node: Comparison, scope: Scope): Expression {
  const { op, place } = node;
  const comparator = comparators[op];
  if (comparator !== undefined) return compareNodes(node, comparator, scope);
  const negated = op.startsWith('not ') || op.startsWith('!');
  const positive = op.replace(/^(not |!)/, '');
  const found = positiveOf(node, positive, scope);
  if (found === null) throw new SqlProblem(`The operator ${op} is not supported.`, place);
  return negated ? not(found) : found;
}

export const not = (part: Expression): Expression => ({ is: 'not', part, type: flag });

function positiveOf(node: Comparison, op: string, scope: Scope): Expression | null {
  const { left, right, place } = node;
  switch (op) {
    case 'in':
      return isIn(left, right, scope);
    case 'in cohort':
      return inCohort(node, scope);
    case 'like':
    case 'ilike':
      return neverNull(resolveFunction(op, [left, right], { scope, place }));
    case '~':
    case '=~':
      return neverNull(resolveFunction('match', [left, right], { scope, place }));
    case '~*':
    case '=~*': {
      const pattern =
        right.node === 'Constant' && typeof right.value === 'string'
          ? { ...right, value: `(?i)${right.value}` }
          : right;
      return neverNull(resolveFunction('match', [left, pattern], { scope, place }));
    }
    default:
      return null;
  }
}

/** Replaces null with false. */
function neverNull(expression: Expression): Expression {
  if (!expression.type.isNullable) return expression;
  const yes: Expression = { is: 'constant', type: { kind: 'bool', isNullable: false }, value: true };
  return { is: 'compare', comparator: '=', left: expression, right: yes, type: flag };
}

function compareNodes(node: Comparison, comparator: Comparator, scope: Scope): Expression {
  const [left, right] = [scope.run.expression(node.left, scope), scope.run.expression(node.right, scope)];
  if (isBoundless(left) || isBoundless(right)) return { is: 'constant', type: flag, value: true };
  return compare(left, right, { comparator, place: node.place, name: printed(node.left) });
}

/** If `{filters.dateRange.from}` has no value, a comparison with it is true. */
const isBoundless = (one: Expression) =>
  one.is === 'constant' && one.value === 'no bound' && one.type.kind === 'nothing';

interface Compared {
  comparator: Comparator;
  place: Place;
  /** The left side as written in the query. */
  name: string;
}

export function compare(left: Expression, right: Expression, { comparator, place, name }: Compared): Expression {
  if (isNull(left) || isNull(right)) {
    const part = isNull(right) ? left : right;
    const isIt: Expression = { is: 'null', part, type: flag };
    if (comparator === '=') return isIt;
    return comparator === '<>' ? not(isIt) : { is: 'constant', type: flag, value: false };
  }
  if (left.is === 'tuple' && right.is === 'tuple' && (comparator === '=' || comparator === '<>'))
    return compareTuples([left.parts, right.parts], { comparator, place, name });
  const [a, b] = sides(left, right, { place, name });
  return { is: 'compare', comparator, left: a, right: b, type: flag };
}

/** Compares tuples element by element, so that two nulls are equal. */
function compareTuples(
  [left, right]: readonly [readonly Expression[], readonly Expression[]],
  { comparator, place, name }: Compared,
): Expression {
  if (left.length !== right.length)
    throw new SqlProblem(`${name} has ${left.length} parts and cannot be compared with ${right.length}.`, place);
  const parts = left.map((part, at) =>
    compare(part, right[at] as Expression, { comparator: '=', place, name: `${name}.${at + 1}` }),
  );
  const areEqual: Expression = { is: 'all', parts, type: flag };
  return comparator === '=' ? areEqual : not(areEqual);
}

/** Converts both sides to one type. A string constant is read as a value of the other side's type. */
function sides(
  left: Expression,
  right: Expression,
  { place, name }: Omit<Compared, 'comparator'>,
): [Expression, Expression] {
  for (const [constant, other] of [
    [left, right],
    [right, left],
  ] as const) {
    const value = textOf(constant);
    if (value === null || other.type.kind === 'text' || other.type.kind === 'json') continue;
    const converted = convert(constant, other.type);
    if (converted === null)
      throw new SqlProblem(
        constant === left
          ? `The text '${value.slice(0, 100)}' cannot be compared with ${describe(other.type)}.`
          : `${name} is ${describe(other.type)} and cannot be compared with the text '${value.slice(0, 100)}'.`,
        place,
      );
    const { parts } = convertToCommonType([converted, other], place, 'Both sides of a comparison');
    const [first = converted, second = other] = parts;
    return constant === left ? [first, second] : [second, first];
  }
  if (left.type.kind === 'uuid' || right.type.kind === 'uuid') {
    const texts =
      left.type.kind === right.type.kind
        ? []
        : [left, right].map((one) => convert(one, { kind: 'text', isNullable: true }));
    const [a, b] = texts;
    if (a !== undefined && b !== undefined && a !== null && b !== null) return [a, b];
  }
  const [a, b] = [left, right].map((one, at) => {
    const other = at === 0 ? right : left;
    return one.type.kind === 'bool' && (other.type.kind === 'int' || other.type.kind === 'float')
      ? (convert(one, other.type) ?? one)
      : one;
  });
  const { parts } = convertToCommonType([a ?? left, b ?? right], place, `Both sides of the comparison with ${name}`);
  return [parts[0] ?? left, parts[1] ?? right];
}

function isIn(left: Node, right: Node, scope: Scope): Expression {
  const value = scope.run.expression(left, scope);
  if (right.node === 'SelectQuery' || right.node === 'SelectSetQuery') {
    const query = scope.run.query(right, scope);
    const types = columnTypes(query).map(({ type }) => type);
    const [only] = types;
    const type: SqlType = types.length === 1 && only !== undefined ? only : tupleOf(types);
    return inQuery(value, { query, type }, right.place);
  }
  const isCall = right.node === 'Call' && (right.name === 'tuple' || right.name === 'array');
  const written = isCall ? right.args : right.node === 'Tuple' || right.node === 'Array' ? right.exprs : [right];
  // The parser reads `(a, b) IN ((1, 2))` like `(a, b) IN (1, 2)`: as a list with one tuple.
  const isOneTuple = value.type.kind === 'tuple' && isTuple(right) && !written.some(isTuple);
  const items = isOneTuple ? [right] : written;
  const list = items.flatMap((item): Expression[] => {
    if (item.node === 'Constant' && Array.isArray(item.value))
      return item.value.map((one) => scope.run.expression({ node: 'Constant', value: one, place: item.place }, scope));
    return [scope.run.expression(item, scope)];
  });
  const isConstant = list.every(isConstantValue);
  if (!isConstant) throw new SqlProblem('The list of IN must consist of constants, or be a subquery.', right.place);
  const values = list.filter((one) => !isNull(one));
  const found = values.map((one) => sides(value, one, { place: right.place, name: printed(left) }));
  const first = found[0]?.[0] ?? value;
  const inList: Expression = { is: 'in list', value: first, list: found.map(([, one]) => one), type: flag };
  if (values.length === list.length) return inList;
  return { is: 'any', parts: [inList, { is: 'null', part: value, type: flag }], type: flag };
}

const isTuple = (node: Node) => node.node === 'Tuple' || (node.node === 'Call' && node.name === 'tuple');

const isConstantValue = (one: Expression): boolean =>
  one.is === 'constant' || (one.is === 'tuple' && one.parts.every(isConstantValue));

function inQuery(
  value: Expression,
  { query, type }: { query: Extract<Expression, { is: 'query' }>['query']; type: SqlType },
  place: Place,
): Expression {
  const converted = convert(value, type);
  if (converted === null || converted.is === 'constant')
    throw new SqlProblem(`Cannot look for ${describe(value.type)} in a subquery of ${describe(type)}.`, place);
  return { is: 'in query', value: converted, query, type: flag };
}

function inCohort({ left, right, place }: Comparison, scope: Scope): Expression {
  const value = scope.run.expression(left, scope);
  if (value.type.kind !== 'uuid') throw new SqlProblem('The left side of IN COHORT must be a person ID.', left.place);
  const wanted = right.node === 'Constant' ? right.value : null;
  const { cohorts } = scope.run.settings;
  const cohort = cohorts.find(({ id, name }) => (typeof wanted === 'number' ? id === wanted : name === wanted));
  if (wanted === null || cohort === undefined)
    throw new SqlProblem(
      `Could not find the cohort ${typeof wanted === 'string' ? `'${wanted}'` : printed(right)}.`,
      right.place,
    );
  try {
    return { is: 'cohort', value, condition: cohort.condition(), type: flag };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new SqlProblem(`The cohort ${printed(right)} cannot be used: ${error.message}`, place);
  }
}

export function resolveBetween(node: Extract<Node, { node: 'BetweenExpr' }>, scope: Scope): Expression {
  const [value, low, high] = [node.expr, node.low, node.high].map((one) => scope.run.expression(one, scope));
  if (value === undefined || low === undefined || high === undefined) throw new Error('BETWEEN needs three parts.');
  const name = printed(node.expr);
  const parts = [
    compare(value, low, { comparator: '>=', place: node.place, name }),
    compare(value, high, { comparator: '<=', place: node.place, name }),
  ];
  const both: Expression = { is: 'all', parts, type: flag };
  return node.negated ? not(both) : both;
}
