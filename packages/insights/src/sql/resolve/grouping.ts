// Checks that a query with aggregates reads other columns only through GROUP BY, and that ORDER BY is compatible with
// DISTINCT.

import type { Select } from '../ast.ts';
import { type Place, SqlProblem } from '../problem.ts';
import { type Expression, isAggregate, keyOf, mapExpression, partsOf, type SelectQuery, someOf } from '../tree.ts';
import { nothing } from '../types.ts';
import type { Resolution } from './scope.ts';

export function checkGrouping(query: SelectQuery, node: Select, run: Resolution): void {
  const clauses: [Expression, Place][] = [
    ...query.columns.map(({ value }, at): [Expression, Place] => [value, node.select[at]?.place ?? node.place]),
    ...query.order.map(({ by }, at): [Expression, Place] => [by, node.order_by?.[at]?.place ?? node.place]),
    ...(query.having === null ? [] : [[query.having, node.having?.place ?? node.place] as [Expression, Place]]),
  ];
  for (const one of query.group)
    if (someOf(one, (part) => part.is === 'window' || isAggregate(part)))
      throw new SqlProblem('GROUP BY must not contain an aggregate or a window function.', node.place);
  if (query.where !== null && someOf(query.where, (part) => part.is === 'window'))
    throw new SqlProblem('WHERE must not contain a window function. Use a subquery.', node.where?.place ?? node.place);
  if (query.isAggregated) {
    const keys = new Set(query.group.map(keyOf));
    for (const [expression, place] of clauses) {
      const found = ungrouped(expression, keys);
      if (found === null) continue;
      const named = run.places.get(found);
      throw new SqlProblem(
        `The column '${named?.name ?? 'of this expression'}' must be in GROUP BY or in an aggregate.`,
        named?.place ?? place,
      );
    }
  }
  if (query.isDistinct) checkDistinct(query, node);
}

function ungrouped(expression: Expression, keys: ReadonlySet<string>): Expression | null {
  if (keys.has(keyOf(expression)) || isAggregate(expression)) return null;
  if (expression.is === 'column') return expression;
  for (const part of partsOf(expression)) {
    const found = ungrouped(part, keys);
    if (found !== null) return found;
  }
  return null;
}

function checkDistinct(query: SelectQuery, node: Select): void {
  const keys = new Set(query.columns.map(({ value }) => keyOf(value)));
  const missing: Expression = { is: 'constant', type: nothing, value: null };
  for (const [at, { by }] of query.order.entries()) {
    const rest = mapExpression(by, (part) => (keys.has(keyOf(part)) ? missing : null));
    if (someOf(rest, (part) => part.is === 'column' || part.is === 'window' || isAggregate(part)))
      throw new SqlProblem(
        'With DISTINCT, ORDER BY can only contain selected columns.',
        node.order_by?.[at]?.place ?? node.place,
      );
  }
  if (query.limitBy !== null) throw new SqlProblem('DISTINCT and LIMIT … BY cannot be combined.', node.place);
}
