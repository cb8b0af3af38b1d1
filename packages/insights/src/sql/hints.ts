// Finds constructs in a query that are valid but slow.

import { type Expression, type Query, type SelectQuery, someOf, type TableRelation } from './tree.ts';

/** Returns whether a query reads events or sessions without a lower bound on their time. */
export function readsAllEvents(query: Query): boolean {
  if (query.is === 'set') return [query.first, ...query.others.map((one) => one.query)].some(readsAllEvents);
  const isSubqueryUnbounded = (part: Expression) =>
    (part.is === 'in query' || part.is === 'query') && readsAllEvents(part.query);
  if (query.where !== null && someOf(query.where, isSubqueryUnbounded)) return true;
  return query.from.some(({ relation }) =>
    relation.is === 'query'
      ? readsAllEvents(relation.query)
      : relation.table === 'sessions'
        ? !relation.bounds?.some(({ comparator }) => comparator === '=' || comparator.startsWith('>'))
        : relation.table === 'events' && !isBounded(query, relation),
  );
}

/**
 * Returns whether WHERE has a lower bound on a table's time. A comparison with `timestamp` on one side is a bound if it
 * is the entire WHERE condition or is joined to the rest of it by AND.
 */
function isBounded({ where }: SelectQuery, relation: TableRelation): boolean {
  const numbers = [...relation.columns].flatMap(([number, column]) =>
    column.of === 'column' && column.name === 'timestamp' ? [number] : [],
  );
  const hasTime = (one: Expression) =>
    someOf(one, (part) => part.is === 'column' && part.relation === relation.id && numbers.includes(part.column));
  const bounds = (one: Expression): boolean => {
    if (one.is === 'all') return one.parts.some(bounds);
    if (one.is === 'in list') return hasTime(one.value);
    if (one.is !== 'compare') return false;
    const { comparator, left, right } = one;
    if (comparator === '=') return hasTime(left) || hasTime(right);
    return (comparator.startsWith('>') && hasTime(left)) || (/^<=?$/.test(comparator) && hasTime(right));
  };
  return where !== null && bounds(where);
}
