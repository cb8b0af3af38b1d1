import { type TSchema, Type } from 'typebox';
import type { ApiRequest } from '../mount/api-request.ts';
import { pageLink } from './page-link.ts';

/** What a 32-bit row count can hold; a larger number means "all" to whoever sends it. */
const maxCount = 2_147_483_647;

/** Query parameters of an offset-paginated list. Bad values fall back, they are never an error. */
export const offsetQuery = {
  limit: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: maxCount,
    'x-lenient': true,
    description: 'Number of results per page. A value that is not a positive number counts as 100.',
  }),
  offset: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: maxCount,
    'x-lenient': true,
    description: 'Index of the first result. A value that is not a number counts as 0.',
  }),
};

/** Schema of the page envelope (contract/management-api.md "Paginated list envelope"). */
export function offsetPageOf<S extends TSchema>(item: S) {
  return Type.Object({
    count: Type.Integer({ description: 'Number of results on all pages together.' }),
    next: Type.Union([Type.String(), Type.Null()], { description: 'Address of the next page, null on the last.' }),
    previous: Type.Union([Type.String(), Type.Null()], {
      description: 'Address of the previous page, null on the first.',
    }),
    results: Type.Array(item, { description: 'The results of this page.' }),
  });
}

/** Wraps the results of one page in the envelope, with links (reference/management-api.md 2.4). */
export function offsetPage<T>(
  request: ApiRequest,
  { limit, offset }: { limit: number; offset: number },
  { count, results }: { count: number; results: T[] },
) {
  const previousOffset = offset - limit;
  return {
    count,
    next: offset + limit < count ? pageLink(request, { limit, offset: offset + limit }) : null,
    previous: offset > 0 ? pageLink(request, { limit, offset: previousOffset > 0 ? previousOffset : null }) : null,
    results,
  };
}
