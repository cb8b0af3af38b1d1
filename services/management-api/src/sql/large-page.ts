// Pages whose rows may be large. The sort keys of a page are found first, which reads nothing large. The rows are then read and
// sent in portions that are bounded in bytes, so that a page has as many rows as were asked for and is never in memory as a whole.

import type { Sql } from '@millrace/db';
import { type ApiRequest, encodeCursor, type PagePortion, PageStream, pageLink } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';

/** What is read of the rows of a list. Their statement uses `$1` for the value by which all rows of the list are found, such as a project. */
interface LargeRows {
  /** The sort key that finds one row: columns and their types, `{ id: 'bigint' }`. */
  key: Record<string, string>;
  /** `FROM … WHERE …` of the row that has a key; `of(column)` is the SQL of one of its columns. */
  row: (of: (column: string) => string) => string;
  columns: string;
  /** SQL for about how many bytes the row takes in the answer. */
  bytes: string;
}

/** Rows that were read, and how many of the given keys were used. A row that was deleted in the meantime uses its key as well. */
export interface Portion<Row> {
  rows: Row[];
  used: number;
}

/**
 * Makes the function that reads the rows of some keys in their order, up to the one that reaches `maxBytes`. One row after
 * the other is measured until then: those after it, a gigabyte perhaps, are neither unpacked nor sent.
 */
export function largeRows<Key extends object, Row extends object>({ key, row, columns, bytes }: LargeRows) {
  const names = Object.keys(key);
  const lists = names.map((name, at) => `$${at + 3}::${key[name]}[] AS ${name}`).join(', ');
  const keyAt = (number: string) => (column: string) => `found.${column}[${number}]`;
  const text = `WITH RECURSIVE found AS MATERIALIZED (SELECT ${lists}, cardinality($3::${key[names[0] ?? '']}[]) AS length),
     shown (number, bytes) AS (
       SELECT 0, 0::bigint
        UNION ALL
       SELECT shown.number + 1, shown.bytes + coalesce((SELECT ${bytes} ${row(keyAt('shown.number + 1'))} LIMIT 1), 0)
         FROM shown CROSS JOIN found
        WHERE shown.number < found.length AND shown.bytes < $2::int
     )
     SELECT page.*, shown.number AS row_number
       FROM shown CROSS JOIN found
       LEFT JOIN LATERAL (SELECT true AS row_exists, ${columns} ${row(keyAt('shown.number'))} LIMIT 1) AS page ON true
      WHERE shown.number > 0
      ORDER BY shown.number`;

  return async (
    sql: Sql,
    scope: unknown,
    { keys, maxBytes }: { keys: Key[]; maxBytes: number },
  ): Promise<Portion<Row>> => {
    const columnsOfKeys = names.map((name) => keys.map((one) => one[name as keyof Key]));
    const found = await sql.query<Row & { row_number: number; row_exists: true | null } & Record<string, unknown>>(
      text,
      [scope, maxBytes, ...columnsOfKeys],
    );
    return { rows: found.filter((one) => one.row_exists), used: found.at(-1)?.row_number ?? keys.length };
  };
}

/** The part of a list that keys are found for. */
export interface KeyWindow<Key> {
  /** Only keys behind this one. */
  behind: Key | null;
  limit: number;
  /** How many of them to leave out first. */
  offset: number;
}

/**
 * The clause of a window. Without an offset it says none: of a number that it does not know the planner assumes a tenth of all
 * rows, and would then avoid the plan that a statement without an offset is prepared with.
 */
export function limitOf(
  { limit, offset }: Pick<KeyWindow<unknown>, 'limit' | 'offset'>,
  parameter: (value: unknown) => string,
): string {
  const page = `LIMIT ${parameter(limit)}::int`;
  return offset === 0 ? page : `${page} OFFSET ${parameter(offset)}::bigint`;
}

export interface LargeList<Key, Item> {
  /** The last key of the page before. */
  behind: Key | null;
  limit: number;
  offset?: number;
  findKeys(window: KeyWindow<Key>): Promise<Key[]>;
  /** Reads items of the first of these keys, up to the one that reaches `maxBytes`. */
  read(keys: Key[], maxBytes: number): Promise<Portion<Item>>;
  /** A key as the list's cursor schema has it. */
  toCursor(key: Key): Record<string, unknown>;
}

interface KeysetPage<Item> {
  next: string | null;
  results: Item[];
}

/** The most keys that a statement is given. */
const longestPortion = 1000;

const MiB = 1024 * 1024;
/** Bytes of all portions that are being put together at the same time, as PostgreSQL sends them. In memory each is several times that. */
const totalBytes = 4 * MiB;
const largestShare = MiB / 2;
const smallestShare = MiB / 4;

/** Divides what portions of pages may take of the process's memory among those that are being put together. */
export interface LargePages {
  page<Key, Item>(request: ApiRequest, list: LargeList<Key, Item>): PageStream<KeysetPage<Item>>;
}

export function createLargePages(): LargePages {
  let portions = 0;

  /** Runs `work`, which puts one portion together. */
  async function share<T>(work: (maxBytes: number) => Promise<T>): Promise<T> {
    portions += 1;
    try {
      return await work(Math.round(Math.max(smallestShare, Math.min(largestShare, totalBytes / portions))));
    } finally {
      portions -= 1;
    }
  }

  /** The rows behind a key, `limit` in all; those that are deleted while the page is read are made up for by later ones. */
  async function* portionsOf<Key, Item>(
    request: ApiRequest,
    list: LargeList<Key, Item>,
  ): AsyncGenerator<PagePortion<KeysetPage<Item>>, void> {
    let missing = list.limit;
    for (let { behind, offset = 0 } = list; ; offset = 0) {
      const found = await list.findKeys({ behind, limit: missing + 1, offset });
      const keys = found.slice(0, missing);
      behind = keys.at(-1) ?? null;
      const hasMore = found.length > keys.length;
      for (let at = 0; ; ) {
        // The keys that did not fit are given again, without new ones: a reader may remember their sizes.
        const given = keys.slice(at, at - (at % longestPortion) + longestPortion);
        const { rows, used } =
          given.length === 0 ? { rows: [], used: 0 } : await share((maxBytes) => list.read(given, maxBytes));
        at += used;
        missing -= rows.length;
        const isLast = at >= keys.length && (missing === 0 || !hasMore);
        const next = isLast && hasMore && behind !== null ? nextPage(request, list.toCursor(behind)) : null;
        yield { results: rows, end: isLast ? { next } : null };
        if (isLast) return;
        if (at >= keys.length) break;
      }
    }
  }

  return { page: (request, list) => new PageStream(portionsOf(request, list)) };
}

/** The query parameter of a large list whose pages may also be addressed by number of results. */
export const offsetOfLargeList = (maximum: number) =>
  Type.Integer({
    default: 0,
    minimum: 0,
    maximum,
    format: 'int64',
    description:
      `Index of the first result, at most ${maximum}. Cannot be combined with \`cursor\`. Following \`next\`, which ` +
      'uses `cursor`, is faster.',
  });

/** @throws AppError `invalid` naming `offset`. */
export function refuseOffsetAfterCursor({ cursor, offset }: { cursor?: string; offset: number }): void {
  if (cursor === undefined || offset === 0) return;
  throw new AppError('invalid', 'Send either `cursor` or `offset`, not both.', { attr: 'offset' });
}

/** A cursor takes the place of an offset. */
const nextPage = (request: ApiRequest, position: Record<string, unknown>) =>
  pageLink(request, { cursor: encodeCursor(position), offset: null });
