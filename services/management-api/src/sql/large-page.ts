// Reads pages of lists whose rows can be large. First reads the sort keys of a page, without large columns. Then reads
// and sends the rows in chunks of limited size. A page has the requested number of rows, and is never completely in
// memory.

import type { Sql } from '@millrace/db';
import { type ApiRequest, encodeCursor, formatDateTime, type PagePortion, PageStream, pageLink } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';

/**
 * Describes how to read the rows of a list. In the statement, `$1` is the value that all rows of the list share, such
 * as the project ID.
 */
interface LargeRows {
  /** The columns of the sort key, which identify a row, and their types. For example, `{ id: 'bigint' }`. */
  key: Record<string, string>;
  /** Returns `FROM … WHERE …` for the row with a key. `of(column)` returns the SQL for a key column. */
  row: (of: (column: string) => string) => string;
  columns: string;
  /** SQL for the approximate size of a row in the response, in bytes. */
  bytes: string;
}

/**
 * The rows that were read, and how many of the given keys were used. The number includes the keys of rows that were
 * deleted in the meantime.
 */
export interface Portion<Row> {
  rows: Row[];
  used: number;
}

/**
 * Creates a function that reads the rows of some keys in order, up to the row that reaches `maxBytes`. Measures one row
 * after another until it reaches that row. PostgreSQL therefore neither decompresses nor sends the rows after it, each
 * of which can be a gigabyte in size.
 */
export function createLargeRowReader<Key extends object, Row extends object>({ key, row, columns, bytes }: LargeRows) {
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

/** The part of a list from which keys are read. */
export interface KeyWindow<Key> {
  /** The key after which to start reading, or null for the start of the list. */
  behind: Key | null;
  limit: number;
  offset: number;
}

/**
 * Returns the LIMIT and OFFSET of a window. Omits an `OFFSET` of 0: if the offset is a parameter, the planner assumes a
 * tenth of all rows, and would choose a worse plan for the prepared statement.
 */
export function toLimitClause(
  { limit, offset }: Pick<KeyWindow<unknown>, 'limit' | 'offset'>,
  parameter: (value: unknown) => string,
): string {
  const page = `LIMIT ${parameter(limit)}::int`;
  return offset === 0 ? page : `${page} OFFSET ${parameter(offset)}::bigint`;
}

/** The result of a search that reached its time limit before the page was full. */
export class StoppedSearch<Key> {
  readonly keys: Key[];
  /** The position in the list up to which the search is complete. The next page continues from there. */
  readonly end: Key;
  /** The time of the row at this position. Null if the list is not sorted by time. */
  readonly until: Date | null;

  constructor({ keys, end, until = null }: { keys: Key[]; end: Key; until?: Date | null }) {
    this.keys = keys;
    this.end = end;
    this.until = until;
  }
}

export interface LargeList<Key, Item> {
  /** Last key of the previous page, or null for the first page. */
  behind: Key | null;
  limit: number;
  offset?: number;
  findKeys(window: KeyWindow<Key>): Promise<Key[] | StoppedSearch<Key>>;
  /** Reads the items for the first of these keys, up to and including the item that reaches `maxBytes`. */
  read(keys: Key[], maxBytes: number): Promise<Portion<Item>>;
  /** Converts a key to the format of the list's cursor schema. */
  toCursor(key: Key): Record<string, unknown>;
}

interface KeysetPage<Item> {
  next: string | null;
  /** If the search reached its time limit, the time up to which it was complete. */
  searched_until?: string;
  results: Item[];
}

/** Maximum number of keys per statement. */
const longestPortion = 1000;

const MiB = 1024 * 1024;
/**
 * Maximum total size in bytes of all chunks in progress, as PostgreSQL sends them. In memory, each chunk takes several
 * times as much.
 */
const totalBytes = 4 * MiB;
const largestShare = MiB / 2;
const smallestShare = MiB / 4;

/** Limits the total memory for the chunks of all pages in progress. */
export interface LargePages {
  page<Key, Item>(request: ApiRequest, list: LargeList<Key, Item>): PageStream<KeysetPage<Item>>;
}

export function createLargePages(): LargePages {
  let portions = 0;

  async function share<T>(work: (maxBytes: number) => Promise<T>): Promise<T> {
    portions += 1;
    try {
      return await work(Math.round(Math.max(smallestShare, Math.min(largestShare, totalBytes / portions))));
    } finally {
      portions -= 1;
    }
  }

  /** Reads `limit` rows after a key. If a row is deleted in the meantime, reads an additional row. */
  async function* portionsOf<Key, Item>(
    request: ApiRequest,
    list: LargeList<Key, Item>,
  ): AsyncGenerator<PagePortion<KeysetPage<Item>>, void> {
    let missing = list.limit;
    for (let { behind, offset = 0 } = list; ; offset = 0) {
      const result = await list.findKeys({ behind, limit: missing + 1, offset });
      const stopped = result instanceof StoppedSearch ? result : null;
      const found = result instanceof StoppedSearch ? result.keys : result;
      const keys = found.slice(0, missing);
      behind = stopped?.end ?? keys.at(-1) ?? null;
      const hasMore = stopped !== null || found.length > keys.length;
      for (let at = 0; ; ) {
        // Before adding new keys, request the rows that did not fit, because a reader may have stored their sizes.
        const keyChunk = keys.slice(at, at - (at % longestPortion) + longestPortion);
        const { rows, used } =
          keyChunk.length === 0 ? { rows: [], used: 0 } : await share((maxBytes) => list.read(keyChunk, maxBytes));
        at += used;
        missing -= rows.length;
        const isLast = at >= keys.length && (missing === 0 || stopped !== null || !hasMore);
        const next = isLast && hasMore && behind !== null ? nextPage(request, list.toCursor(behind)) : null;
        const until = stopped?.until ?? null;
        const end = { next, ...(until !== null && { searched_until: formatDateTime(until) }) };
        yield { results: rows, end: isLast ? end : null };
        if (isLast) return;
        if (at >= keys.length) break;
      }
    }
  }

  return { page: (request, list) => new PageStream(portionsOf(request, list)) };
}

export const offsetSchemaOfLargeList = (maximum: number) =>
  Type.Integer({
    default: 0,
    minimum: 0,
    maximum,
    format: 'int64',
    description:
      `Index of the first result, at most ${maximum}. Cannot be combined with \`cursor\`. Following \`next\`, which ` +
      'uses `cursor`, is faster.',
  });

/** Rejects a request with both a cursor and an offset. @throws AppError `invalid` naming `offset` */
export function refuseOffsetAfterCursor({ cursor, offset }: { cursor?: string; offset: number }): void {
  if (cursor === undefined || offset === 0) return;
  throw new AppError('invalid', 'Send either `cursor` or `offset`, not both.', { attr: 'offset' });
}

const nextPage = (request: ApiRequest, position: Record<string, unknown>) =>
  pageLink(request, { cursor: encodeCursor(position), offset: null });
