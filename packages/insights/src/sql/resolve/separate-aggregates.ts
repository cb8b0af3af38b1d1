// Computes aggregates in a subquery where PostgreSQL would otherwise assign them to the wrong query. The templates of
// list functions contain subqueries, and PostgreSQL assigns an aggregate without a column to the innermost one.

import {
  type Expression,
  isAggregate,
  keyOf,
  mapExpression,
  type OutputColumn,
  partsOf,
  type QueryRelation,
  type SelectQuery,
  someOf,
} from '../tree.ts';
import type { Resolution } from './scope.ts';

/**
 * Returns an equivalent query. If a list function processes the result of an aggregate, the aggregates are in a
 * subquery.
 */
export function separateAggregates(query: SelectQuery, run: Resolution): SelectQuery {
  const values = [...query.columns.map(({ value }) => value), ...query.order.map(({ by }) => by)];
  if (query.having !== null) values.push(query.having);
  if (!values.some((value) => someOf(value, processesAggregates))) return query;
  const relation: QueryRelation = { is: 'query', id: run.nextNumber(), query };
  const inner = new Map<string, OutputColumn>();
  const groups = new Set(query.group.map(keyOf));
  const columnOf = (value: Expression): Expression => {
    const key = keyOf(value);
    const found = inner.get(key) ?? { column: run.nextNumber(), value };
    inner.set(key, found);
    return { is: 'column', relation: relation.id, column: found.column, type: value.type };
  };
  const outside = (value: Expression) =>
    mapExpression(value, (part) => (isAggregate(part) || groups.has(keyOf(part)) ? columnOf(part) : null));
  const outer: SelectQuery = {
    ...query,
    from: [{ relation, join: null, on: null }],
    expand: [],
    columns: query.columns.map(({ column, value }) => ({ column, value: outside(value) })),
    where: query.having === null ? null : outside(query.having),
    group: [],
    isAggregated: false,
    having: null,
    order: query.order.map(({ by, isDescending }) => ({ by: outside(by), isDescending })),
    limitBy: query.limitBy === null ? null : { ...query.limitBy, by: query.limitBy.by.map(outside) },
  };
  relation.query = {
    ...query,
    id: run.nextNumber(),
    columns: [...inner.values()],
    isDistinct: false,
    having: null,
    order: [],
    limitBy: null,
    limit: null,
    offset: 0,
  };
  return outer;
}

/** Returns whether an expression is printed as a subquery over the result of an aggregate. */
function processesAggregates(one: Expression): boolean {
  const isList = one.is === 'tuple' && one.parts.some(({ type }) => type.kind === 'array');
  const isSubquery = one.is === 'call' && !one.of.isAggregate && /\bFROM unnest\b|\bSELECT\b/.test(one.of.postgres);
  return (isList || isSubquery) && partsOf(one).some((part) => someOf(part, isAggregate));
}
