import { unprepared } from '@millrace/db';

/** A row of a page that was cut by its bytes. */
export type Paged<Row> = Row & {
  /** How many rows were found, one more than the limit at most; more than were shown when there is another page. */
  fetched: number;
};

export interface PageWithinBytes {
  /** Finds the sort keys of the page in its order, with one row more than `limit` if there is one. */
  keys: string;
  /** The sort keys that find one row: columns of `keys`. */
  keyColumns: string[];
  /** `FROM … WHERE …` of the row that has these keys; `key(column)` is the SQL of one. */
  row: (key: (column: string) => string) => string;
  columns: string;
  /** SQL for about how many bytes the row takes in the answer. */
  bytes: string;
  /** Placeholders. */
  limit: string;
  maxBytes: string;
  /** Whether the text is one of few, and so worth being prepared. */
  isUsual: boolean;
}

/**
 * SQL of a page that is bounded in bytes as well as in rows: it ends with the row that reaches `maxBytes`. Keys are found first, which reads nothing large; then one row
 * after the other is measured until the page is full, so that what lies behind its end, a gigabyte perhaps, is neither
 * unpacked nor sent.
 */
export function pageWithinBytes({
  keys,
  keyColumns,
  row,
  columns,
  bytes,
  limit,
  maxBytes,
  isUsual,
}: PageWithinBytes): string {
  const lists = keyColumns.map((column) => `array_agg(k.${column}) AS ${column}`).join(', ');
  const keyAt = (number: string) => (column: string) => `found.${column}[${number}]`;
  return `${isUsual ? '' : unprepared}WITH RECURSIVE found AS MATERIALIZED (
       SELECT ${lists}, count(*)::int AS fetched FROM (${keys}) AS k
     ), shown (number, bytes) AS (
       SELECT 0, 0::bigint
        UNION ALL
       SELECT shown.number + 1, shown.bytes + (SELECT ${bytes} ${row(keyAt('shown.number + 1'))} LIMIT 1)
         FROM shown CROSS JOIN found
        WHERE shown.number < least(found.fetched, ${limit}::int) AND shown.bytes < ${maxBytes}::int
     )
     SELECT page.*, found.fetched
       FROM shown CROSS JOIN found
      CROSS JOIN LATERAL (SELECT ${columns} ${row(keyAt('shown.number'))} LIMIT 1) AS page
      WHERE shown.number > 0
      ORDER BY shown.number`;
}
