// SQL for a page of events, or of event counts grouped by columns.

import { buildFromClause, buildSelectionCondition } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { EventPageQuery, PageColumn } from './queries.ts';
import type { Property } from './selection.ts';
import { type Fragment, sql } from './sql.ts';

/**
 * Selects columns of events, or event counts grouped by columns.
 * @param persons a query for rows of `actor`, to select only the events of these persons; null to select the events of
 * all persons
 */
export function buildPageSql(dialect: Dialect, query: EventPageQuery, persons: Fragment | null): Fragment {
  const { columns, order, limit, offset } = query;
  const page = sql`LIMIT ${sql.int(limit)} OFFSET ${sql.int(offset)}`;
  const all = [...columns, ...order.map(({ column }) => column)];
  const events = eventsOf(dialect, query, { columns: all, persons });
  if (all.some(isAggregated)) return sql`${groupsText(dialect, query, events)} ${page}`;
  const orders = order.map(({ column, isDescending }) => directed(column, sortKey(dialect, column), isDescending));
  // Sorting by UUID keeps simultaneous events in the same order across pages.
  return sql`SELECT ${list(columns.map((column) => expression(dialect, column)))} ${events}
              ORDER BY ${list([...orders, dialect.uuidText(sql`e.uuid`)])} ${page}`;
}

function eventsOf(
  dialect: Dialect,
  { select }: EventPageQuery,
  { columns, persons }: { columns: PageColumn[]; persons: Fragment | null },
): Fragment {
  const readsPerson = columns.includes('person_id') || persons !== null;
  const person: Property[] = readsPerson ? [{ of: 'column', key: 'person_id' }] : [];
  const from = buildFromClause(dialect, {
    projectId: select.projectId,
    conditions: [select.where],
    properties: [...person, ...columns.flatMap(propertiesOf)],
  });
  const ofThese = persons === null ? sql`` : sql`AND ${dialect.person} IN (SELECT actor FROM (${persons}) AS source)`;
  return sql`${from} WHERE ${buildSelectionCondition(dialect, select)} ${ofThese}`;
}

function propertiesOf(column: PageColumn): readonly Property[] {
  if (typeof column !== 'object') return [];
  return 'json' in column ? [column.json] : column.expression.reads;
}

/** Returns true if a column is an aggregate, so that each row represents a group of events. */
export const isAggregated = (column: PageColumn): boolean =>
  column === 'count' || (typeof column === 'object' && 'expression' in column && column.expression.isAggregate);

/**
 * The subquery names the columns, because PostgreSQL would treat two copies of a property expression as different
 * values.
 */
function groupsText(dialect: Dialect, { columns, order }: EventPageQuery, events: Fragment): Fragment {
  const grouped = columns.filter((column) => !isAggregated(column));
  const places = new Map(grouped.map((column, at) => [columnKey(column), at]));
  const named = (column: PageColumn) => sql.numbered('b', places.get(columnKey(column)) ?? 0);
  const shown = (column: PageColumn) => (isAggregated(column) ? expression(dialect, column) : named(column));
  const ordered = (column: PageColumn) =>
    isAggregated(column) ? sortKey(dialect, column) : comparable(dialect, column, named(column));
  const aggregates = [...columns, ...order.map(({ column }) => column)].flatMap((column) =>
    typeof column === 'object' && 'expression' in column && column.expression.isAggregate ? [column.expression] : [],
  );
  const read = [
    ...grouped.map((column) => sql`${expression(dialect, column)} AS ${named(column)}`),
    ...[...new Set(aggregates)].flatMap((aggregate) => aggregate.columns(dialect.name)),
  ];
  const rows = sql`SELECT ${list(columns.map(shown))} FROM (SELECT ${read.length === 0 ? sql`1 AS one` : list(read)} ${events}) AS counted`;
  if (grouped.length === 0) return rows;
  // Rows with equal aggregates are sorted by their other values, so that they have the same order across pages.
  const orders = [
    ...order.map(({ column, isDescending }) => directed(column, ordered(column), isDescending)),
    ...grouped.map(ordered),
  ];
  return sql`${rows} GROUP BY ${list(grouped.map(named))} ORDER BY ${list(orders)}`;
}

/** Returns a string that is equal for equal columns. */
export const columnKey = (column: PageColumn): string =>
  typeof column === 'object' && 'expression' in column ? `expression ${column.expression.key}` : JSON.stringify(column);

function sortKey(dialect: Dialect, column: PageColumn): Fragment {
  if (typeof column === 'object' && 'expression' in column) return column.expression.print(dialect.name, 'order');
  return storedTime(column) ?? comparable(dialect, column, expression(dialect, column));
}

/** Returns the indexed database column that a time column reads, or null for other columns. */
function storedTime(column: PageColumn): Fragment | null {
  if (column === 'timestamp') return sql`e.timestamp`;
  return column === 'created_at' ? sql`e.created_at` : null;
}

const list = (pieces: readonly Fragment[]) => sql.join(pieces, ', ');

/**
 * Sorts missing values last in both directions. Only properties may be missing. For other columns, `NULLS LAST` would
 * prevent PostgreSQL from using an index.
 */
function directed(column: PageColumn, value: Fragment, isDescending: boolean): Fragment {
  const direction = isDescending ? sql`DESC` : sql`ASC`;
  return typeof column === 'object' ? sql`${value} ${direction} NULLS LAST` : sql`${value} ${direction}`;
}

/** Returns an expression that all engines sort in the same order. */
function comparable(dialect: Dialect, column: PageColumn, value: Fragment): Fragment {
  if (typeof column === 'object' && 'expression' in column && !column.expression.isShownAsText) return value;
  switch (column) {
    case 'uuid':
    case 'person_id':
      return dialect.uuidText(value);
    case 'count':
    case 'timestamp':
    case 'created_at':
      return value;
    default:
      return dialect.inByteOrder(value);
  }
}

function expression(dialect: Dialect, column: PageColumn): Fragment {
  if (typeof column === 'object')
    return 'json' in column ? dialect.json(column.json) : column.expression.print(dialect.name, 'result');
  switch (column) {
    case 'uuid':
      return sql`e.uuid`;
    case 'event':
      return sql`e.event`;
    case 'distinct_id':
      return sql`e.distinct_id`;
    case 'timestamp':
      return dialect.millis(sql`e.timestamp`);
    case 'created_at':
      return dialect.millis(sql`e.created_at`);
    case 'person_id':
      return dialect.person;
    case 'properties':
      return dialect.document(sql`e.properties`);
    case 'elements_chain':
      return sql`e.elements_chain`;
    case 'count':
      return sql`count(*)`;
    default:
      return column satisfies never;
  }
}
