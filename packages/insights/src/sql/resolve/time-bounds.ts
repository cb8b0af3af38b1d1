// Finds the bounds that WHERE sets on the time of each table. Sessions are computed from their events, so a query on
// sessions without such bounds reads all events of the project.

import type { Comparator, Expression, JoinedRelation, TableRelation, TimeBound } from '../tree.ts';
import { isAggregate, someOf } from '../tree.ts';

const mirrored: Record<Comparator, Comparator> = { '=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };
const withoutValue = new Set(['column', 'parameter', 'query', 'in query', 'cohort', 'window']);

/** Stores with each table the bounds that WHERE sets on its time. */
export function storeTimeBounds(from: readonly JoinedRelation[], where: Expression): void {
  for (const { relation } of from) if (relation.is === 'table') relation.bounds = boundsOf(relation, where);
}

/**
 * Returns the bounds on the table's time. A bound is a comparison that is the entire condition or is joined to the rest
 * of it by AND.
 */
function boundsOf(relation: TableRelation, one: Expression): TimeBound[] {
  if (one.is === 'all') return one.parts.flatMap((part) => boundsOf(relation, part));
  if (one.is !== 'compare' || one.comparator === '<>') return [];
  const { left, right, comparator } = one;
  if (isTime(relation, left) && isValue(right)) return [{ comparator, value: right }];
  return isTime(relation, right) && isValue(left) ? [{ comparator: mirrored[comparator], value: left }] : [];
}

const timesOf: Partial<Record<TableRelation['table'], readonly string[]>> = {
  events: ['timestamp'],
  sessions: ['session.$start_timestamp', 'session.$end_timestamp'],
};

function isTime({ id, table, columns }: TableRelation, one: Expression): boolean {
  const column = one.is === 'column' && one.relation === id ? columns.get(one.column) : undefined;
  return column?.of === 'column' && (timesOf[table] ?? []).includes(column.name);
}

const isValue = (one: Expression) =>
  one.type.kind === 'time' && !someOf(one, (part) => withoutValue.has(part.is) || isAggregate(part));
