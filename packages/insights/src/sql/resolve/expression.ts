// Resolves expressions: converts each node of the syntax tree to a typed expression.

import type { Call, Node, WindowExpr, WindowFunction } from '../ast.ts';
import {
  aggregateAliases,
  aggregates,
  isInternal,
  resolverFunctions,
  toFunctionTableName,
  windows,
} from '../functions/index.ts';
import { fieldPath, printed } from '../names.ts';
import { type Place, SqlProblem } from '../problem.ts';
import type {
  CallExpression,
  ExpandRelation,
  Expression,
  Frame,
  FrameBound,
  OrderBy,
  WindowExpression,
} from '../tree.ts';
import { columnTypes, isAggregate, someOf } from '../tree.ts';
import { describe, flag, nothing, nullable, tupleOf } from '../types.ts';
import { resolveAggregate } from './aggregates.ts';
import { type At, applyFunction, checkBounds, isKnown, mapList, resolveFunction, unknownFunction } from './calls.ts';
import { not, resolveBetween, resolveComparison } from './comparisons.ts';
import { arrayNode, conditionals } from './conditionals.ts';
import { conversions, resolveCast } from './conversions.ts';
import { filtersOf } from './filters.ts';
import { jsonFunctions } from './json.ts';
import { lists } from './lists.ts';
import { momentArithmetic, moments } from './moments.ts';
import { isSame, located, propertyOfDocument, resolveName, type Scope } from './scope.ts';
import { constant, convert, emptyValue, intConstant, longestList, toCondition } from './values.ts';

export function resolveExpression(node: Node, scope: Scope): Expression {
  switch (node.node) {
    case 'Constant':
      return constantOf(node, scope);
    case 'Field':
      return resolveName(node.chain.map(String), node.place, scope);
    case 'Call':
      return located(scope, resolveCall(node, scope), { place: node.place, name: printed(node) });
    case 'CompareOperation':
      return resolveComparison(node, scope);
    case 'And':
    case 'Or': {
      const parts = node.exprs.map((part) => toCondition(resolveExpression(part, scope), part.place));
      return { is: node.node === 'And' ? 'all' : 'any', parts, type: flag };
    }
    case 'Not':
      return not(toCondition(resolveExpression(node.expr, scope), node.expr.place));
    case 'ArithmeticOperation':
      return arithmetic(node, scope);
    case 'BetweenExpr':
      return resolveBetween(node, scope);
    case 'Alias':
      return resolveExpression(node.expr, scope);
    case 'Array':
      return arrayNode(
        node.exprs.map((part) => resolveExpression(part, scope)),
        node.place,
      );
    case 'Tuple': {
      const parts = node.exprs.map((part) => resolveExpression(part, scope));
      return { is: 'tuple', parts, type: tupleOf(parts.map(({ type }) => type)) };
    }
    case 'ArrayAccess':
      return access(node, scope);
    case 'ArraySlice':
      return slice(node, scope);
    case 'TupleAccess':
      return element(node, scope);
    case 'TypeCast':
      return resolveCast(node, scope);
    case 'WindowFunction':
      return windowOf(node, scope);
    case 'SelectQuery':
    case 'SelectSetQuery':
      return scalarQuery(node, scope);
    case 'Injected':
      if (node.what === 'filters') return filtersOf(node.place, scope);
      return { is: 'constant', type: nothing, value: 'no bound' };
    case 'Placeholder':
      throw new SqlProblem(`Unresolved placeholder: ${printed(node)}`, node.place);
    case 'Lambda':
      throw new SqlProblem('A lambda can only be an argument of a function such as arrayMap.', node.place);
    case 'OrderExpr':
      throw new SqlProblem('ORDER is not supported here.', node.place);
    default:
      return node satisfies never;
  }
}

function constantOf({ value, digits, place }: Extract<Node, { node: 'Constant' }>, scope: Scope): Expression {
  if (!Array.isArray(value)) return constant(value as string | number | boolean | null, digits, place);
  const parts = value.map((one) => resolveExpression({ node: 'Constant', value: one, place }, scope));
  return arrayNode(parts, place);
}

const operators = { '+': 'plus', '-': 'minus', '*': 'multiply', '/': 'divide', '%': 'modulo' } as const;
const symbols = ['+', '-', '*', '/', '%'] as const;

function arithmetic(node: Extract<Node, { node: 'ArithmeticOperation' }>, scope: Scope): Expression {
  const { op, left, right, place } = node;
  const sides = [resolveExpression(left, scope), resolveExpression(right, scope)] as const;
  return momentArithmetic(op, sides, { scope, place }) ?? applyFunction(operators[op], sides, { scope, place });
}

function resolveCall(node: Call, scope: Scope): Expression {
  const name = toFunctionTableName(node.name);
  const { place } = node;
  if (name === 'arrayJoin') return expand(node, scope);
  if (name === 'arrayElement' || name === 'tupleElement') return elementOf({ ...node, name }, scope);
  const [left, right, ...others] = node.args;
  const op = symbols.find((symbol) => operators[symbol] === name);
  if (op !== undefined && left !== undefined && right !== undefined && others.length === 0)
    return arithmetic({ node: 'ArithmeticOperation', op, left, right, place }, scope);
  const handler = [conditionals, conversions, moments, lists, jsonFunctions].map((one) => one.get(name)).find(Boolean);
  if (handler !== undefined) {
    const bounds = resolverFunctions.get(name);
    if (bounds !== undefined) checkBounds({ name, word: 'Function', place }, bounds, node.args.length);
    return handler({ ...node, name }, scope);
  }
  const aggregate = isInternal(name) ? null : resolveAggregate(node, scope);
  if (aggregate !== null) return aggregate;
  if (!isKnown(name) || isInternal(name)) return unknownFunction(node.name, place);
  return resolveFunction(name, node.args, { scope, place });
}

/** Resolves `arrayJoin`, which returns one row per element. The list becomes a table that is joined to each row. */
function expand(node: Call, scope: Scope): Expression {
  const { place } = node;
  checkBounds({ name: 'arrayJoin', word: 'Function', place }, [1, 1], node.args.length);
  const list = resolveExpression(node.args[0] as Node, { ...scope, parameters: new Map() });
  if (list.type.kind !== 'array')
    throw new SqlProblem(`arrayJoin expects an array, found ${describe(list.type)}.`, place);
  if (someOf(list, (one) => isAggregate(one) || one.is === 'window'))
    throw new SqlProblem('arrayJoin of an aggregate is not supported. Aggregate in a subquery first.', place);
  const known = scope.expand.find(({ lists }) => lists.some((one) => isSame(one.list, list)));
  if (known === undefined && scope.expand.length > 0)
    throw new SqlProblem('A query can contain only one arrayJoin or ARRAY JOIN.', place);
  return joinElements(list, known ?? addExpansion(scope, false), scope);
}

/** Adds a relation for the elements of lists. */
export function addExpansion({ expand, run }: Scope, isOuter: boolean): ExpandRelation {
  const relation: ExpandRelation = { is: 'expand', id: run.nextNumber(), lists: [], isOuter };
  expand.push(relation);
  return relation;
}

/** Returns the column that contains the elements of a list. */
export function joinElements(list: Expression, { id, lists, isOuter }: ExpandRelation, { run }: Scope): Expression {
  let item = lists.find((one) => isSame(one.list, list));
  if (item === undefined) {
    item = { column: run.nextNumber(), list };
    lists.push(item);
  }
  const type = list.type.element ?? nothing;
  return {
    is: 'column',
    relation: id,
    column: item.column,
    isElement: true,
    type: nullable(type, type.isNullable || isOuter),
  };
}

/** Resolves `properties['x']`, an element of a list, or a property of a document. */
function access(node: Extract<Node, { node: 'ArrayAccess' }>, scope: Scope): Expression {
  const path = fieldPath(node);
  if (path !== null && scope.parameters.get(path[0] ?? '') === undefined) return resolveName(path, node.place, scope);
  const list = resolveExpression(node.array, scope);
  const place = resolveExpression(node.property, scope);
  if (list.type.kind === 'json' && place.is === 'constant' && place.type.kind === 'text')
    return propertyOfDocument(list, [String(place.value)]);
  if (list.type.kind !== 'array' || place.type.kind !== 'int')
    throw new SqlProblem(
      `Cannot read an element of ${describe(list.type)} with ${describe(place.type)} as its position.`,
      node.place,
    );
  const type = list.type.element ?? nothing;
  const empty = emptyValue(type);
  const call = applyFunction('arrayElement', [list, place, empty], { scope, place: node.place });
  return { ...call, type: nullable(type, empty.type.isNullable || place.type.isNullable) };
}

/** Resolves `list[2:5]`, the elements from the second to the fifth. */
function slice(
  { array, start_expr: start, end_expr: end, place }: Extract<Node, { node: 'ArraySlice' }>,
  scope: Scope,
) {
  const bound = (node: Node | undefined, usual: number) => {
    const value = node === undefined ? usual : node.node === 'Constant' ? node.value : null;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
      throw new SqlProblem('The bounds of a part of a list must be constant whole numbers from 1.', place);
    return value;
  };
  const [first, last] = [bound(start, 1), bound(end, longestList)];
  const length = Math.max(0, last - first + 1);
  return applyFunction('arraySlice', [resolveExpression(array, scope), intConstant(first), intConstant(length)], {
    scope,
    place,
  });
}

function element(node: Extract<Node, { node: 'TupleAccess' }>, scope: Scope): Expression {
  return partOfTuple(resolveExpression(node.tuple, scope), node.index, { scope, place: node.place });
}

/** Resolves `arrayElement(list, position)` and `tupleElement(tuple, index)`. */
function elementOf(node: Call, scope: Scope): Expression {
  const { name, args, place } = node;
  checkBounds({ name, word: 'Function', place }, [2, 2], args.length);
  const [value, at] = args as [Node, Node];
  if (name === 'arrayElement') return access({ node: 'ArrayAccess', array: value, property: at, place }, scope);
  if (at.node !== 'Constant' || typeof at.value !== 'number')
    throw new SqlProblem('The second argument of tupleElement must be a constant number.', at.place);
  return partOfTuple(resolveExpression(value, scope), at.value, { scope, place });
}

/**
 * Resolves `x.1`, which is an element of a tuple. For a list of tuples, the result is the list of the elements at this
 * index.
 */
function partOfTuple(tuple: Expression, index: number, at: At): Expression {
  if (tuple.is === 'tuple' && tuple.parts[index - 1] !== undefined) return tuple.parts[index - 1] as Expression;
  const { element } = tuple.type;
  if (element?.kind === 'tuple') {
    const id = at.scope.run.nextNumber();
    const parameter: Expression = { is: 'parameter', id: at.scope.run.nextNumber(), lambda: id, type: element };
    const body = partOfTuple(parameter, index, at);
    return mapList(tuple, { is: 'lambda', id, parameters: [parameter.id], body, type: body.type }, at);
  }
  if (tuple.type.kind !== 'tuple')
    throw new SqlProblem(`Only tuples have numbered parts, not ${describe(tuple.type)}.`, at.place);
  const type = tuple.type.parts?.[index - 1];
  if (type === undefined) throw new SqlProblem(`The tuple has no part ${index}.`, at.place);
  return { is: 'tuple part', tuple, index, type };
}

function scalarQuery(node: Extract<Node, { node: 'SelectQuery' | 'SelectSetQuery' }>, scope: Scope): Expression {
  const query = scope.run.query(node, scope);
  const [first, ...others] = columnTypes(query);
  if (first === undefined || others.length > 0)
    throw new SqlProblem('A subquery that is used as a value must have exactly one column.', node.place);
  return { is: 'query', query, type: nullable(first.type, true) };
}

function windowOf(node: WindowFunction, scope: Scope): WindowExpression {
  const { place } = node;
  const written = toFunctionTableName(node.name);
  const over = node.over_expr ?? scope.windows[node.over_identifier ?? ''];
  if (over === undefined) throw new SqlProblem(`The window \`${node.over_identifier}\` does not exist.`, place);
  const args = [...(node.exprs ?? []), ...(node.args ?? [])];
  const frame = frameOf(over, place);
  const shift = /^(lag|lead)(InFrame)?$/.exec(written);
  if (shift?.[2] !== undefined && shift[1] === 'lead' && frame?.end.rows !== null)
    throw new SqlProblem(
      `The function '${written}' needs the frame ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING. Or use lead.`,
      place,
    );
  const isOwn = windows.has(written) || shift !== null;
  if (!isOwn && !aggregates.has(aggregateAliases.get(written) ?? written.replace(/If$/, '')))
    return unknownFunction(node.name, place);
  const inner: Scope = { ...scope, aggregate: null };
  const call = isOwn ? ownWindow(written, args, { scope: inner, place }) : aggregateOver(node, args, inner);
  const order = (over.order_by ?? []).map(
    (one): OrderBy => ({
      by: resolveExpression(one.expr, inner),
      isDescending: one.order === 'DESC',
    }),
  );
  const partition = (over.partition_by ?? []).map((one) => resolveExpression(one, inner));
  // Functions such as `lag` read other rows of the partition, regardless of the frame.
  return { is: 'window', call, partition, order, frame: shift === null ? frame : null, type: call.type };
}

function aggregateOver(node: WindowFunction, args: Node[], scope: Scope): CallExpression {
  const call: Call = { node: 'Call', name: node.name, args, place: node.place };
  const found = resolveAggregate(call, { ...scope, withoutAggregates: null }, true);
  if (found === null) return unknownFunction(node.name, node.place);
  if (!overable.has(found.name))
    throw new SqlProblem(`The function '${node.name}' is not supported with OVER.`, node.place);
  return found;
}

/** Aggregates that both engines can use as window functions. */
const overable = new Set([
  'count',
  'sum',
  'sumOrZero',
  'avg',
  'min',
  'max',
  'maxBesidesNan',
  'groupArray',
  'stddevPop',
  'stddevSamp',
  'varPop',
  'varSamp',
]);

function ownWindow(
  written: string,
  nodes: readonly Node[],
  { scope, place }: { scope: Scope; place: Place },
): CallExpression {
  const name = written.replace('InFrame', '');
  const options = windows.get(name) ?? [];
  const args = nodes.map((arg) => resolveExpression(arg, scope));
  // In ClickHouse, functions such as `lagInFrame` return the empty value of the type for missing rows.
  if (name !== written && args[0] !== undefined) {
    args[1] ??= intConstant(1);
    args[2] ??= emptyValue(args[0].type);
  }
  const [value, , filler] = args;
  if (value?.type.kind === 'tuple' || value?.type.kind === 'array')
    throw new SqlProblem(`The function '${written}' cannot return ${describe(value.type)}.`, place);
  if (value !== undefined && filler !== undefined) {
    const converted = convert(filler, value.type);
    if (converted === null)
      throw new SqlProblem(`The value for missing rows of '${name}' must be ${describe(value.type)}.`, place);
    args[2] = { ...converted, type: nullable(value.type, converted.type.isNullable) };
  }
  const of = options.find((one) => one.args.length === args.length);
  if (of === undefined) {
    const counts = options.map((one) => one.args.length);
    checkBounds({ name, word: 'Function', place }, [Math.min(...counts), Math.max(...counts)], args.length);
    throw new SqlProblem(`The function '${name}' is not supported with these arguments.`, place);
  }
  const isRow = of.result === 'same' || of.result === 'filled';
  const isNullable = args[2] === undefined || value?.type.isNullable === true || args[2].type.isNullable;
  const type =
    isRow && value !== undefined
      ? nullable(value.type, isNullable)
      : { kind: 'int' as const, integer: 'UInt64' as const, isNullable: false };
  return { is: 'call', name, of, args, type };
}

function frameOf({ frame_method: method, frame_start: start, frame_end: end }: WindowExpr, place: Place): Frame | null {
  if (method === undefined || start === undefined) return null;
  const bound = (one: typeof start): FrameBound => ({
    at: one.frame_type ?? 'CURRENT ROW',
    rows: typeof one.frame_value === 'number' ? one.frame_value : null,
  });
  const current: FrameBound = { at: 'CURRENT ROW', rows: null };
  const frame: Frame = { method, start: bound(start), end: end === undefined ? current : bound(end) };
  if (method === 'RANGE' && [frame.start, frame.end].some(({ rows }) => rows !== null))
    throw new SqlProblem('RANGE with an offset is not supported. Use ROWS.', place);
  return frame;
}
