// Resolves list functions that depend on constants or that combine lists.

import type { Node } from '../ast.ts';
import { SqlProblem } from '../problem.ts';
import type { Expression } from '../tree.ts';
import { int } from '../types.ts';
import { applyFunction, type CallResolver, resolveFunction } from './calls.ts';
import { isConstant, longestList } from './values.ts';

const range: CallResolver = (node, scope) => {
  const bounds = node.args
    .map((arg) => scope.run.expression(arg, scope))
    .map((one) => (isConstant(one) && one.type.kind === 'int' ? Number(one.value) : null));
  const [first = null, second] = bounds;
  const [from, to] = second === undefined ? [0, first] : [first, second];
  if (from === null || to === null || to - from > longestList)
    throw new SqlProblem(
      `The bounds of 'range' must be constant whole numbers with at most ${longestList} elements between them.`,
      node.place,
    );
  const bound = (value: number): Expression => ({ is: 'constant', type: int(), value: String(value) });
  return applyFunction('range', [bound(from), bound(Math.max(from, to))], { scope, place: node.place });
};

/** Resolves `arrayZip(a, b)` as `arrayMap((x, y) -> (x, y), a, b)`. */
const zip: CallResolver = ({ args, place }, scope) => {
  const names = args.map((_, at) => `item${at}`);
  const parts = names.map((name): Node => ({ node: 'Field', chain: [name], place }));
  const lambda: Node = { node: 'Lambda', args: names, expr: { node: 'Tuple', exprs: parts, place }, place };
  return resolveFunction('arrayMap', [lambda, ...args], { scope, place });
};

/** Resolves `arrayReverseSort(list)` as `arrayReverseSort(item -> item, list)`. */
const reverseSort: CallResolver = ({ args, place }, scope) => {
  const body: Node = { node: 'Field', chain: ['item'], place };
  const lambda: Node = { node: 'Lambda', args: ['item'], expr: body, place };
  return resolveFunction('arrayReverseSort', args[0]?.node === 'Lambda' ? args : [lambda, ...args], { scope, place });
};

/** List functions that have the same result as an aggregate. */
const reductions: Readonly<Record<string, string>> = {
  sum: 'arraySum',
  avg: 'arrayAvg',
  min: 'arrayMin',
  max: 'arrayMax',
  any: 'arrayMin',
  count: 'length',
};

/** Resolves `arrayReduce('sum', list)`. */
const reduce: CallResolver = ({ args, place }, scope) => {
  const [first, ...lists] = args;
  const name = first?.node === 'Constant' ? String(first.value) : '';
  const reduction = reductions[name];
  if (reduction !== undefined) return resolveFunction(reduction, lists, { scope, place });
  const known = Object.keys(reductions).join(', ');
  throw new SqlProblem(`arrayReduce supports only ${known}, found '${name}'.`, first?.place ?? place);
};

export const lists: ReadonlyMap<string, CallResolver> = new Map([
  ['range', range],
  ['arrayZip', zip],
  ['arrayReverseSort', reverseSort],
  ['arrayReduce', reduce],
]);
