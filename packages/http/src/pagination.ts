/** Builds list pages, by offset or by cursor, and the links between them (docs/api/README.md#pages). */

import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { type PagePortion, PageStream } from './route/results.ts';
import type { ApiRequest } from './route/route.ts';
import { findSchemaFailure } from './schema/compile.ts';
import { shapeOf } from './schema/schema-shape.ts';

/**
 * The maximum `limit` of any list. Larger pages would take too long in one request. PostHog has no maximum for most
 * lists.
 */
const maxLimit = 10_000;

/**
 * Query parameters of an offset-paginated list. An invalid value is replaced with a fallback instead of causing an
 * error.
 */
export const offsetQuery = {
  limit: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: maxLimit,
    'x-lenient': true,
    description:
      'Number of results per page, at most 10000. Larger values are treated as 10000; values that are not positive ' +
      'numbers are treated as 100. Only the last page can be shorter.',
  }),
  offset: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    format: 'int64',
    'x-lenient': true,
    description: 'Index of the first result. Values that are not numbers are treated as 0.',
  }),
};

export function offsetPageSchema<S extends TSchema>(item: S) {
  return Type.Object(
    {
      count: Type.Integer({ description: 'Total number of results on all pages.' }),
      next: Type.Union([Type.String(), Type.Null()], {
        description: 'URL of the next page, or null on the last page.',
      }),
      previous: Type.Union([Type.String(), Type.Null()], {
        description: 'URL of the previous page, or null on the first page.',
      }),
      results: Type.Array(item, { description: 'The results on this page.' }),
    },
    pageTitle(item),
  );
}

/**
 * Returns the title of a page schema, including the title of its items. Generated clients use it as the type name.
 */
function pageTitle(item: TSchema): { title?: string } {
  const { title } = shapeOf(item);
  return title === undefined ? {} : { title: `${title}Page` };
}

interface OffsetPage<T> {
  count: number;
  next: string | null;
  previous: string | null;
  results: T[];
}

const longestPortion = 1000;

/**
 * Returns a page of an offset-paginated list with its links (docs/api/README.md#pages).
 * @param read returns the results that start at an offset, and the total count. If the results are large, `read` can
 *   return fewer than `limit`. It is called again for the remaining results while the client reads the first ones.
 */
export function offsetPage<T>(
  request: ApiRequest,
  { limit, offset }: { limit: number; offset: number },
  read: (window: { limit: number; offset: number }) => Promise<{ count: number; results: T[] }>,
): PageStream<OffsetPage<T>> {
  return new PageStream(portions());

  async function* portions(): AsyncGenerator<PagePortion<OffsetPage<T>>, void> {
    const end = offset + limit;
    for (let from = offset; ; ) {
      const { count, results } = await read({ limit: Math.min(longestPortion, end - from), offset: from });
      from += results.length;
      const isLast = results.length === 0 || from >= end || from >= count;
      yield { results, end: isLast ? { count, ...linksOf(count) } : null };
      if (isLast) return;
    }
  }

  function linksOf(count: number) {
    const previousOffset = offset - limit;
    return {
      next: offset + limit < count ? pageLink(request, { limit, offset: offset + limit }) : null,
      previous: offset > 0 ? pageLink(request, { limit, offset: previousOffset > 0 ? previousOffset : null }) : null,
    };
  }
}

export const keysetQuery = {
  limit: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: maxLimit,
    'x-lenient': true,
    description:
      'Number of results per page, at most 10000. Larger values are treated as 10000, and values that are not ' +
      'positive are treated as 100. Only the last page can be shorter.',
  }),
  cursor: Type.Optional(
    Type.String({
      description: 'Position at which the page begins. Taken from the `next` URL of the previous page.',
    }),
  ),
};

/** The schema of a page without a count. `next` shows whether there are more results. */
export function keysetPageSchema<S extends TSchema>(item: S) {
  return Type.Object(
    {
      next: Type.Union([Type.String(), Type.Null()], {
        description: 'URL of the next page, or null on the last page.',
      }),
      results: Type.Array(item, { description: 'The results on this page.' }),
    },
    pageTitle(item),
  );
}

/** Returns the limit plus one, because an additional row shows that there is a next page. */
export function rowsToFetch({ limit }: { limit: number }): number {
  return limit + 1;
}

/**
 * Removes the row that was fetched beyond the limit, and returns the position after the last remaining row.
 * @param positionOf returns the sort key of a row in the form that the list's cursor schema defines
 */
export function trimPage<Row>(
  rows: Row[],
  { limit }: { limit: number },
  positionOf: (row: Row) => Record<string, unknown>,
) {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, nextPosition: rows.length > limit && last !== undefined ? positionOf(last) : null };
}

export function keysetPage<T>(
  request: ApiRequest,
  { nextPosition }: { nextPosition: Record<string, unknown> | null },
  results: T[],
) {
  const next = nextPosition === null ? null : pageLink(request, { cursor: encodeCursor(nextPosition) });
  return { next, results };
}

/** Maximum length of a cursor in a request. Every cursor that Millrace creates is shorter. */
const maxLength = 4096;

/**
 * Encodes the position after the last row of a page as an opaque string. The cursor is not signed, because it contains
 * only the sort key of a row that the caller has just read, and is validated like any other input.
 */
export function encodeCursor(position: Record<string, unknown>): string {
  return Buffer.from(JSON.stringify(position), 'utf8').toString('base64url');
}

/**
 * Decodes a cursor.
 * @throws AppError `invalid` with attr `cursor` for a cursor that `encodeCursor` did not create for this list
 */
export function decodeCursor<S extends TObject>(schema: S, cursor: string | undefined): Static<S> | null {
  if (cursor === undefined) return null;
  const position = parse(cursor);
  if (holdsNull(position) || findSchemaFailure(schema, position) !== null)
    throw new AppError('invalid', 'Invalid cursor.', { attr: 'cursor' });
  return position as Static<S>;
}

/** JSON allows NUL characters, but PostgreSQL rejects them. */
function holdsNull(position: unknown): boolean {
  return isObject(position) && Object.values(position).some((part) => typeof part === 'string' && part.includes('\0'));
}

function parse(cursor: string): unknown {
  if (cursor.length > maxLength || !/^[\w-]+$/.test(cursor)) return undefined;
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Returns the absolute URL of another page of the same list. The URL has the path and the query parameters of the
 * request, sorted by name, with the given changes. `null` removes a parameter (docs/api/README.md#pages).
 */
export function pageLink(request: ApiRequest, changes: Record<string, string | number | null>): string {
  const query = new URLSearchParams(request.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, String(value));
  }
  query.sort();
  const text = query.toString();
  return `${request.baseUrl}${request.path}${text === '' ? '' : `?${text}`}`;
}
