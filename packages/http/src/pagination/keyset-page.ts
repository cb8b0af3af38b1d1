import { type TSchema, Type } from 'typebox';
import type { ApiRequest } from '../route/api-request.ts';
import { encodeCursor } from './cursor.ts';
import { pageLink } from './page-link.ts';

/** Query parameters of a keyset-paginated list. */
export const keysetQuery = {
  limit: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: 1000,
    'x-lenient': true,
    description:
      'Number of results per page, at most 1000. A larger number counts as 1000, one that is not positive as 100.',
  }),
  cursor: Type.Optional(
    Type.String({ description: 'Where the page begins: taken from the `next` link of the page before.' }),
  ),
};

/** Schema of a page without a count: `next` alone says whether there is more. */
export function keysetPageOf<S extends TSchema>(item: S) {
  return Type.Object({
    next: Type.Union([Type.String(), Type.Null()], { description: 'Address of the next page, null on the last.' }),
    results: Type.Array(item, { description: 'The results of this page.' }),
  });
}

/** How many rows to ask the store for: one more than shown tells whether there is a next page. */
export function rowsToFetch({ limit }: { limit: number }): number {
  return limit + 1;
}

/**
 * Cuts the extra row off and tells the position after the last row shown.
 *
 * @param positionOf the sort key of a row, as the list's cursor schema has it.
 */
export function cutPage<Row>(
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
