// Replaces counts of distinct values with a subquery that has one row per value, for PostgreSQL. PostgreSQL sorts all
// rows to compute `count(DISTINCT x)`, but groups the rows of such a subquery by hash.

import { aggregates } from '../functions/index.ts';
import {
  type CallExpression,
  type Expression,
  isAggregate,
  keyOf,
  mapExpression,
  type OutputColumn,
  partsOf,
  type QueryRelation,
  type SelectQuery,
} from '../tree.ts';
import { flag, int } from '../types.ts';

/**
 * Returns an equivalent query that reads the distinct values of each group from a subquery. Returns null if the query
 * does not count distinct values, counts the distinct values of several expressions, or has an aggregate that cannot be
 * computed from partial results.
 * @param nextNumber a function that returns an unused number for a column or a relation
 */
export function countByGroups(query: SelectQuery, nextNumber: () => number): SelectQuery | null {
  const { columns, having, order, limitBy } = query;
  const values = [...columns.map(({ value }) => value), ...order.map(({ by }) => by), ...(limitBy?.by ?? [])];
  const calls = [...values, ...(having === null ? [] : [having])].flatMap(aggregatesIn);
  const counted = calls.filter(isDistinctCount);
  const distinct = counted[0]?.args;
  if (distinct === undefined || counted.some(({ args }) => keysOf(args) !== keysOf(distinct))) return null;
  if (!calls.every((call) => isDistinctCount(call) || ['count', 'min', 'max'].includes(call.of.name))) return null;

  const relation: QueryRelation = { is: 'query', id: nextNumber(), query };
  const inner = new Map<string, OutputColumn>();
  const groups = new Set(query.group.map(keyOf));
  const columnOf = (value: Expression): Expression => {
    const key = keyOf(value);
    const found = inner.get(key) ?? { column: nextNumber(), value };
    inner.set(key, found);
    return { is: 'column', relation: relation.id, column: found.column, type: value.type };
  };
  const combined = (call: CallExpression): Expression => {
    const { filter, ...others } = call;
    if (!isDistinctCount(call)) return { ...others, of: combiningFunction(call), args: [columnOf(call)] };
    const rows: CallExpression = { ...others, name: 'count', of: countFunction, args: [] };
    if (filter === undefined) return rows;
    const matches = columnOf({ ...rows, filter, type: int() });
    return { ...rows, filter: { is: 'compare', comparator: '>', left: matches, right: zero, type: flag } };
  };
  const outside = (value: Expression) =>
    mapExpression(value, (part) => {
      if (part.is === 'call' && isAggregate(part)) return combined(part);
      return groups.has(keyOf(part)) ? columnOf(part) : null;
    });
  const outer: SelectQuery = {
    ...query,
    from: [{ relation, join: null, on: null }],
    expand: [],
    columns: columns.map(({ column, value }) => ({ column, value: outside(value) })),
    where: null,
    group: query.group.map(columnOf),
    having: having === null ? null : outside(having),
    order: order.map(({ by, isDescending }) => ({ by: outside(by), isDescending })),
    limitBy: limitBy === null ? null : { ...limitBy, by: limitBy.by.map(outside) },
  };
  relation.query = {
    ...query,
    id: nextNumber(),
    // Without groups, the query reads no column of the subquery, but a subquery must have at least one column.
    columns: inner.size === 0 ? [{ column: nextNumber(), value: distinct[0] ?? zero }] : [...inner.values()],
    isDistinct: false,
    group: [...query.group, ...distinct],
    having: null,
    order: [],
    limitBy: null,
    limit: null,
    offset: 0,
  };
  return outer;
}

const zero: Expression = { is: 'constant', type: int(), value: 0 };

const keysOf = (args: readonly Expression[]) => args.map(keyOf).join(' ');
const isDistinctCount = ({ of }: CallExpression) => of.name === 'uniqExact';

/** Returns the outermost aggregates of an expression, except those in subqueries. */
export function aggregatesIn(expression: Expression): CallExpression[] {
  if (expression.is === 'call' && isAggregate(expression)) return [expression];
  return partsOf(expression).flatMap(aggregatesIn);
}

const functionOf = (name: string, args: number) => {
  const found = aggregates.get(name)?.find((of) => of.args.length === args);
  if (found === undefined) throw new Error(`The aggregate ${name} is missing.`);
  return found;
};
const countFunction = functionOf('count', 0);

/** Returns the function that combines partial results of an aggregate. */
const combiningFunction = ({ of }: CallExpression) => (of.name === 'count' ? functionOf('sumOrZero', 1) : of);
