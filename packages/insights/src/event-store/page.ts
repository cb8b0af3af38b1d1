// Rows of events, or counts of them by some columns.

import { fromEvents, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { PageColumn, PageQuestion, Property } from './port.ts';
import { type Fragment, sql } from './sql.ts';

/** Rows of the columns, in their order. @param persons those whose events are read, as rows of `unit`; null: all */
export function pageText(
  dialect: Dialect,
  { select, columns, order, limit, offset }: PageQuestion,
  persons: Fragment | null,
): Fragment {
  const all = [...columns, ...order.map(({ column }) => column)];
  const readsPerson = all.includes('person_id') || persons !== null;
  const person: Property[] = readsPerson ? [{ of: 'column', key: 'person_id' }] : [];
  const read = all.flatMap((column) => (typeof column === 'object' ? [column.json] : []));
  const from = fromEvents(dialect, {
    projectId: select.projectId,
    conditions: [select.where],
    properties: [...person, ...read],
  });
  const isCounted = all.includes('count');
  const grouped = isCounted ? columns.filter((column) => column !== 'count') : [];
  const groups =
    grouped.length === 0
      ? sql``
      : sql`GROUP BY ${sql.join(
          grouped.map((column) => expression(dialect, column)),
          ', ',
        )}`;
  const shown = sql.join(
    columns.map((column) => expression(dialect, column)),
    ', ',
  );
  const orders = order.map(({ column, isDescending }) =>
    isDescending ? sql`${ordered(column)} DESC` : sql`${ordered(column)} ASC`,
  );
  function ordered(column: PageColumn): Fragment {
    // An index has the times as they are stored, a group as they are shown.
    if (column === 'timestamp' && !isCounted) return sql`e.timestamp`;
    return column === 'created_at' && !isCounted ? sql`e.created_at` : expression(dialect, column);
  }
  // Many events of one moment keep their order from page to page.
  const tie = isCounted ? [] : [dialect.uuidText(sql`e.uuid`)];
  const ofThese = persons === null ? sql`` : sql`AND ${dialect.person} IN (SELECT unit FROM (${persons}) AS behind)`;
  return sql`SELECT ${shown} ${from} WHERE ${selected(dialect, select)} ${ofThese} ${groups}
              ORDER BY ${sql.join([...orders, ...tie, ...(orders.length + tie.length === 0 ? [sql`1`] : [])], ', ')}
              LIMIT ${sql.int(limit)} OFFSET ${sql.int(offset)}`;
}

function expression(dialect: Dialect, column: PageColumn): Fragment {
  if (typeof column === 'object') return dialect.json(column.json);
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
