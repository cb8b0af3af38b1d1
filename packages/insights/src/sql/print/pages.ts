// Reads a page of events from ClickHouse with two statements. With a single statement, ClickHouse would read and sort
// all columns of all matching events. The first statement finds the keys of the events on the page, and the second
// reads the large columns of only these events.

import type { PageStatement } from '../../event-store/port.ts';
import type { EngineName } from '../../event-store/selection.ts';
import type { Fragment } from '../../event-store/sql.ts';
import {
  type Expression,
  partsOf,
  type Query,
  type SelectQuery,
  type TableColumn,
  type TableRelation,
} from '../tree.ts';
import { text, time, uuid } from '../types.ts';
import { printStatement } from './query.ts';
import { propertiesWithColumns } from './tables.ts';

/** Maximum number of keys, because the second statement contains them and must not become too long. */
const maxKeys = 1000;

/** Number of the first key column. No other column has such a high number. */
const firstNumber = 2_000_000;

const keyColumns: readonly TableColumn[] = [
  { of: 'column', name: 'uuid', type: uuid },
  { of: 'column', name: 'timestamp', type: time('UTC') },
  { of: 'column', name: 'event', type: text },
  { of: 'column', name: 'distinct_id', type: text },
];

/** Returns the two statements for a page of events with large columns, or null for any other query. */
export function pageStatement(query: Query, projectId: number): PageStatement | null {
  if (query.is !== 'select' || !isPage(query)) return null;
  const relation = query.from[0]?.relation;
  if (relation?.is !== 'table' || relation.table !== 'events') return null;
  const tests = [...(query.where === null ? [] : [query.where]), ...query.order.map(({ by }) => by)];
  const needed = new Set(tests.flatMap(columnsIn));
  if (![...relation.columns].some(([number, column]) => isLarge(column) && !needed.has(number))) return null;
  return {
    keys: (engine) => keysText(query, { relation, needed }, { engine, projectId }),
    print: (engine, keys) => printStatement({ ...query, where: null, offset: 0 }, { engine, projectId, keys }),
  };
}

function isPage(query: SelectQuery): boolean {
  const { from, expand, isAggregated, isDistinct, limitBy, limit, offset, order, columns } = query;
  if (from.length !== 1 || expand.length > 0 || isAggregated || isDistinct || limitBy !== null) return false;
  if (limit === null || limit === 0 || limit + offset > maxKeys || order.every(({ by }) => by.is === 'constant'))
    return false;
  return ![...columns.map(({ value }) => value), ...order.map(({ by }) => by)].some(hasWindow);
}

/**
 * Returns whether an expression contains a window function. In the second statement, a window function would only
 * process the events of the page.
 */
const hasWindow = (one: Expression): boolean => one.is === 'window' || partsOf(one).some(hasWindow);

const columnsIn = (one: Expression): number[] => (one.is === 'column' ? [one.column] : partsOf(one).flatMap(columnsIn));

function isLarge(column: TableColumn): boolean {
  if (column.of === 'column') return ['properties', 'poe.properties', 'elements_chain'].includes(column.name);
  return column.of === 'property' && column.property.of === 'event' && !propertiesWithColumns.has(column.property.key);
}

/** Generates SQL that selects a page's keys, in no particular order. */
function keysText(
  query: SelectQuery,
  { relation, needed }: { relation: TableRelation; needed: ReadonlySet<number> },
  target: { engine: EngineName; projectId: number },
): Fragment {
  const columns = keyColumns.map((column, at): [number, TableColumn] => [firstNumber + at, column]);
  const others = [...relation.columns].filter(([number]) => needed.has(number));
  const narrow: TableRelation = { ...relation, columns: new Map([...others, ...columns]) };
  const selected = columns.map(([column, { type }]) => ({
    column,
    value: { is: 'column', relation: relation.id, column, type } as const,
  }));
  return printStatement({ ...query, from: [{ relation: narrow, join: null, on: null }], columns: selected }, target);
}
