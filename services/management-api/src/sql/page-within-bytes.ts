// Pages whose rows may be large: as many of them as fit a number of bytes.

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

/**
 * Where the next page begins.
 *
 * @param positionOf the sort key of a row, as the list's cursor schema has it.
 */
export function endOfPage<Row>(rows: Paged<Row>[], positionOf: (row: Row) => Record<string, unknown>) {
  const last = rows.at(-1);
  return { nextPosition: last !== undefined && last.fetched > rows.length ? positionOf(last) : null };
}

const MiB = 1024 * 1024;

/** Bytes of all pages that are being put together at the same time, as PostgreSQL sends them. In memory each is several times that. */
const totalBytes = 8 * MiB;
/** A page alone gets no more: what it leaves out is one request away. */
const largestShare = 2 * MiB;
const smallestShare = MiB / 4;

/** Divides what pages may take of the process's memory among those that are being put together. */
export interface PageShares {
  /** Runs `work`, which puts one page together. Its page ends with the row that reaches `maxBytes`. */
  run<T>(work: (maxBytes: number) => Promise<T>): Promise<T>;
}

export function createPageShares(): PageShares {
  let pages = 0;
  return {
    async run(work) {
      pages += 1;
      try {
        return await work(Math.round(Math.max(smallestShare, Math.min(largestShare, totalBytes / pages))));
      } finally {
        pages -= 1;
      }
    },
  };
}
