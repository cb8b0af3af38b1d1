// Resolves `{filters}`: the date range and the property filters that come with a query from a dashboard or a client.

import { type Place, SqlProblem } from '../problem.ts';
import type { Expression } from '../tree.ts';
import { flag } from '../types.ts';
import { findColumn, readColumn, type Scope } from './scope.ts';
import { timeConstant } from './values.ts';

/** For each table, the time column that `{filters}` limits to its date range. */
export const timeColumns: Readonly<Record<string, string | undefined>> = {
  events: 'timestamp',
  sessions: '$start_timestamp',
  groups: 'created_at',
};

export function filtersOf(place: Place, scope: Scope): Expression {
  const source = scope.sources.find(({ relation }) => relation.is === 'table' && relation.table in timeColumns);
  if (source === undefined || source.relation.is !== 'table')
    throw new SqlProblem(
      "Cannot use 'filters' placeholder in a SELECT clause that does not select from the events, sessions, logs, traces or groups table.",
      place,
    );
  const { filters, zone } = scope.run.settings;
  const at = findColumn(source, [timeColumns[source.relation.table] ?? ''], scope, place);
  if (at === null) throw new Error('The table has no time.');
  const bounds = [
    { bound: filters.from, comparator: '>=' },
    { bound: filters.to, comparator: '<' },
  ] as const;
  const parts = bounds.flatMap(({ bound, comparator }): Expression[] =>
    bound === null ? [] : [{ is: 'compare', comparator, left: at, right: timeConstant(bound, zone), type: flag }],
  );
  if (filters.condition !== null) {
    if (source.relation.table !== 'events')
      throw new SqlProblem('Property filters are only supported in a SELECT from events.', place);
    const column = { of: 'condition', condition: filters.condition, type: flag } as const;
    parts.push(readColumn(source.relation, column, { isOuter: false, run: scope.run }));
  }
  return { is: 'all', parts, type: flag };
}
