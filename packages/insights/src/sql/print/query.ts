// Prints a query as the SQL statement of one engine.

import { clickhouseDialect } from '../../event-store/clickhouse/dialect.ts';
import type { Dialect } from '../../event-store/dialect.ts';
import { postgresDialect } from '../../event-store/postgres/dialect.ts';
import type { EventKey } from '../../event-store/queries.ts';
import type { EngineName } from '../../event-store/selection.ts';
import { type Fragment, sql } from '../../event-store/sql.ts';
import {
  columnTypes,
  type ExpandRelation,
  type Expression,
  type JoinedRelation,
  keyOf,
  mapExpression,
  type OrderBy,
  type Query,
  type QueryRelation,
  type SelectQuery,
} from '../tree.ts';
import { text } from '../types.ts';
import { orderForm } from './casts.ts';
import { createBinder, type Printing } from './context.ts';
import { aggregatesIn, countByGroups } from './distinct-counts.ts';
import { equallyLong, expressionText, orderText } from './expression.ts';
import { outputText } from './output.ts';
import { tableText } from './tables.ts';

const list = (pieces: readonly Fragment[]) => sql.join(pieces, ', ');

const dialects: Record<EngineName, Dialect> = { postgres: postgresDialect, clickhouse: clickhouseDialect };

/** Number of the first column that the printer adds. The resolver does not use such high numbers. */
const firstNumber = 1_000_000;

export function createPrinting(
  engine: EngineName,
  projectId: number,
  { column, keys }: Pick<Printing, 'column' | 'keys'> = {},
): Printing {
  let number = firstNumber;
  const printed = new WeakMap<object, Fragment>();
  const printing: Printing = {
    nextNumber: () => number++,
    dialect: dialects[engine],
    isPostgres: engine === 'postgres',
    projectId,
    bind: createBinder(),
    rowOrders: new Map(),
    expression: (expression) => expressionText(expression, printing, queryText),
    once(subject, print) {
      const known = printed.get(subject) ?? print();
      printed.set(subject, known);
      return known;
    },
    ...(column && { column }),
    ...(keys && { keys }),
  };
  return printing;
}

/**
 * Returns the statement for an engine. `valueReader` converts its columns.
 * @param keys the only events to read from the query's table, if set
 */
export function printStatement(
  query: Query,
  { engine, projectId, keys }: { engine: EngineName; projectId: number; keys?: readonly EventKey[] },
): Fragment {
  const printing = createPrinting(engine, projectId, keys && { keys });
  const columns = columnTypes(query).map(({ column, type }) => {
    const value = sql.numbered('c', column);
    // `valueReader` removes the spaces in a JSON document much faster than PostgreSQL.
    return type.kind === 'json' && printing.isPostgres ? sql`(${value})::text` : outputText(value, type, printing);
  });
  return sql`SELECT ${list(columns)} FROM (${queryText(query, printing)}) AS ${sql.numbered('s', query.id)}`;
}

function queryText(query: Query, printing: Printing): Fragment {
  if (query.is === 'select') return selectText(query, printing);
  const first = partText(query.first, query.columns, printing);
  // Without DISTINCT, ClickHouse's INTERSECT and EXCEPT keep repeated rows.
  const words = {
    'UNION ALL': sql`UNION ALL`,
    'UNION DISTINCT': sql`UNION DISTINCT`,
    INTERSECT: sql`INTERSECT DISTINCT`,
    EXCEPT: sql`EXCEPT DISTINCT`,
  };
  const others = query.others.map(
    ({ operator, query: other }) => sql`${words[operator]} ${partText(other, query.columns, printing)}`,
  );
  const all = sql`${first} ${sql.join(others, ' ')}`;
  if (query.limit === null) return all;
  const columns = query.columns.map(({ column }) => sql.numbered('c', column));
  return sql`SELECT ${list(columns)} FROM (${all}) AS ${sql.numbered('s', query.id)} LIMIT ${sql.int(query.limit)}`;
}

/**
 * Prints one SELECT of a union with the column names of the union. All SELECTs use the same collation, because
 * PostgreSQL cannot otherwise compare their strings.
 */
function partText(query: Query, names: readonly { column: number }[], printing: Printing): Fragment {
  const columns = columnTypes(query).map(({ column, type }, at) => {
    const isText = type.kind === 'text' || type.element?.kind === 'text';
    const collate = printing.isPostgres && isText ? sql` COLLATE "pg_c_utf8"` : sql``;
    return sql`${sql.numbered('c', column)}${collate} AS ${sql.numbered('c', names[at]?.column ?? column)}`;
  });
  return sql`SELECT ${list(columns)} FROM (${queryText(query, printing)}) AS ${sql.numbered('s', query.id)}`;
}

function selectText(query: SelectQuery, printing: Printing): Fragment {
  const grouped = printing.dialect.groupsBeforeCounting ? countByGroups(query, printing.nextNumber) : null;
  if (grouped !== null) return selectText(grouped, printing);
  if (printing.isPostgres) keepRowOrder(query, printing);
  if (query.isDistinct) return distinctText(query, printing);
  if (query.limitBy !== null && printing.isPostgres) return limitByText(query, query.limitBy, printing);
  const by = query.limitBy;
  const limitBy =
    by === null
      ? sql``
      : sql` LIMIT ${sql.int(by.count)} OFFSET ${sql.int(by.offset)} BY ${list(by.by.map(printing.expression))}`;
  return sql`${bodyText(query, [], printing)}${orderClause(query.order, printing)}${limitBy}${limitText(query)}`;
}

/** Prints the clauses from SELECT to HAVING. @param extra the columns to append */
function bodyText(query: SelectQuery, extra: readonly Fragment[], printing: Printing): Fragment {
  const selected = [
    ...query.columns.map(({ column, value }) => sql`${printing.expression(value)} AS ${sql.numbered('c', column)}`),
    ...extra,
  ];
  const where = query.where === null ? sql`` : sql` WHERE ${printing.expression(query.where)}`;
  const group = query.group.length === 0 ? sql`` : sql` GROUP BY ${list(query.group.map(printing.expression))}`;
  const having = query.having === null ? sql`` : sql` HAVING ${printing.expression(query.having)}`;
  return sql`SELECT ${list(selected)}${fromText(query, printing)}${where}${group}${having}`;
}

/** Prints ORDER BY without constants, because both engines interpret some constants as positions of columns. */
function orderClause(order: readonly OrderBy[], printing: Printing): Fragment {
  const effective = order.filter(({ by }) => by.is !== 'constant');
  return effective.length === 0 ? sql`` : sql` ORDER BY ${list(effective.map((one) => orderText(one, printing)))}`;
}

function limitText({ limit, offset }: Pick<SelectQuery, 'limit' | 'offset'>): Fragment {
  const most = limit === null ? sql`` : sql` LIMIT ${sql.int(limit)}`;
  return offset === 0 ? most : sql`${most} OFFSET ${sql.int(offset)}`;
}

function fromText(query: SelectQuery, printing: Printing): Fragment {
  const joined = query.from.map((one) => joinText(one, printing));
  const [expand] = query.expand;
  if (joined.length === 0 && expand === undefined) return sql``;
  const tables = joined.length === 0 ? [sql`(SELECT 1 AS one) AS first`] : joined;
  return sql` FROM ${sql.join([...tables, ...(expand === undefined ? [] : [expandText(expand, printing)])], ' ')}`;
}

function joinText({ relation, join, on }: JoinedRelation, printing: Printing): Fragment {
  const table =
    relation.is === 'table'
      ? tableText(relation, printing)
      : sql`(${subqueryText(relation, printing)}) AS ${sql.numbered('s', relation.id)}`;
  const words = {
    INNER: sql`INNER JOIN`,
    LEFT: sql`LEFT JOIN`,
    RIGHT: sql`RIGHT JOIN`,
    FULL: sql`FULL JOIN`,
    CROSS: sql`CROSS JOIN`,
  };
  if (join === null) return table;
  return on === null ? sql`${words[join]} ${table}` : sql`${words[join]} ${table} ON ${printing.expression(on)}`;
}

function subqueryText(relation: QueryRelation, printing: Printing): Fragment {
  const text = queryText(relation.query, printing);
  if (!printing.rowOrders.has(relation)) return text;
  return sql`SELECT *, row_number() OVER () FROM (${text}) AS ${sql.numbered('s', relation.id)}`;
}

/**
 * Keeps the row order of a sorted subquery whose values `groupArray` collects: numbers its rows, and sorts each list by
 * this number. PostgreSQL would otherwise lose the order when it sorts all rows for another aggregate, such as
 * `count(DISTINCT x)`. ClickHouse keeps the row order.
 */
function keepRowOrder(query: SelectQuery, { rowOrders }: Printing): void {
  const relation = query.from[0]?.relation;
  if (relation?.is !== 'query' || !isSorted(relation.query)) return;
  const values = [...query.columns.map(({ value }) => value), ...query.order.map(({ by }) => by)];
  const calls = [...values, ...(query.having === null ? [] : [query.having])].flatMap(aggregatesIn);
  for (const call of calls.filter(({ of }) => of.name === 'groupArray')) {
    rowOrders.set(call, relation);
    rowOrders.set(relation, relation);
  }
}

/** Returns whether a query's rows are sorted by its own ORDER BY, or by that of the subquery that it reads. */
function isSorted(query: Query): boolean {
  if (query.is === 'set') return false;
  if (query.order.length > 0) return true;
  const [only, ...others] = query.from;
  const keepsOrder = others.length === 0 && !query.isAggregated && !query.isDistinct && query.limitBy === null;
  return keepsOrder && only?.relation.is === 'query' && isSorted(only.relation.query);
}

function expandText({ id, lists, isOuter }: ExpandRelation, printing: Printing): Fragment {
  const names = lists.map(({ column }) => sql.numbered('c', column));
  const values = equallyLong(
    lists.map((one) => one.list),
    printing,
  );
  if (printing.isPostgres) {
    const rows = sql`LATERAL unnest(${list(values)}) AS ${sql.numbered('s', id)} (${list(names)})`;
    return isOuter ? sql`LEFT JOIN ${rows} ON true` : sql`CROSS JOIN ${rows}`;
  }
  // For an empty list, ClickHouse would return the default value of the type instead of null.
  const shown = isOuter ? values.map((value) => sql`arrayMap(item -> toNullable(item), ${value})`) : values;
  const named = list(shown.map((value, at) => sql`${value} AS ${names[at] ?? sql``}`));
  return isOuter ? sql`LEFT ARRAY JOIN ${named}` : sql`ARRAY JOIN ${named}`;
}

/** Prints DISTINCT in a subquery, because ORDER BY needs different SQL for the columns than SELECT. */
function distinctText(query: SelectQuery, printing: Printing): Fragment {
  const inner = sql`SELECT DISTINCT ${list(query.columns.map(({ column }) => sql.numbered('c', column)))}
    FROM (${bodyText(query, [], printing)}) AS ${sql.numbered('s', query.id)}`;
  const selected = new Map(
    query.columns.map(({ column, value }): [string, Expression] => [
      keyOf(value),
      { is: 'column', relation: query.id, column, type: value.type },
    ]),
  );
  const order = query.order.map(({ by, isDescending }) => ({
    by: mapExpression(by, (part) => selected.get(keyOf(part)) ?? null),
    isDescending,
  }));
  const columns = query.columns.map(({ column }) => sql.numbered('c', column));
  return sql`SELECT ${list(columns)} FROM (${inner}) AS ${sql.numbered('s', query.id)}${orderClause(order, printing)}${limitText(query)}`;
}

/** Prints LIMIT BY, which keeps the first rows of each group. A subquery numbers the rows within their group. */
function limitByText(query: SelectQuery, limitBy: NonNullable<SelectQuery['limitBy']>, printing: Printing): Fragment {
  const columns = query.columns.map(({ column }) => sql.numbered('c', column));
  const orders = query.order.map(({ by, isDescending }) => {
    const isJson = by.type.kind === 'json';
    const column = printing.nextNumber();
    const value = isJson ? orderForm(by, printing) : printing.expression(by);
    const type = isJson ? text : by.type;
    return {
      selected: sql`${value} AS ${sql.numbered('c', column)}`,
      order: { by: { is: 'column', relation: query.id, column, type }, isDescending } satisfies OrderBy,
    };
  });
  const partition = list(limitBy.by.map(printing.expression));
  const number = sql`row_number() OVER (PARTITION BY ${partition}${orderClause(query.order, printing)}) AS place`;
  const body = bodyText(query, [...orders.map(({ selected }) => selected), number], printing);
  const order = orderClause(
    orders.map((one) => one.order),
    printing,
  );
  const { count, offset } = limitBy;
  return sql`SELECT ${list(columns)} FROM (${body}) AS ${sql.numbered('s', query.id)}
    WHERE place > ${sql.int(offset)} AND place <= ${sql.int(offset + count)}${order}${limitText(query)}`;
}
