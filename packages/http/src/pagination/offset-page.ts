import { type TSchema, Type } from 'typebox';
import type { ApiRequest } from '../route/api-request.ts';
import { pageLink } from './page-link.ts';

/** What a 32-bit number can hold. */
const maxOffset = 2_147_483_647;
/** The reference has no limit; a page of anything at all is nobody's to ask for. */
const maxLimit = 1000;

/** Query parameters of an offset-paginated list. Bad values fall back, they are never an error. */
export const offsetQuery = {
  limit: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: maxLimit,
    'x-lenient': true,
    description:
      'Number of results per page, at most 1000. A larger number counts as 1000, a value that is not a positive number as 100. A page of very large results is shorter: follow `next`.',
  }),
  offset: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: maxOffset,
    'x-lenient': true,
    description: 'Index of the first result. A value that is not a number counts as 0.',
  }),
};

/** Schema of the page envelope (docs/api-rules.md#pages). */
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

/**
 * Wraps the results of one page in the envelope, with links (docs/api-rules.md#pages). A page that ended early,
 * because of its bytes, is continued behind its last result.
 */
export function offsetPage<T>(
  request: ApiRequest,
  { limit, offset }: { limit: number; offset: number },
  { count, results }: { count: number; results: T[] },
) {
  const previousOffset = offset - limit;
  const end = offset + results.length;
  return {
    count,
    next: results.length > 0 && end < count ? pageLink(request, { limit, offset: end }) : null,
    previous: offset > 0 ? pageLink(request, { limit, offset: previousOffset > 0 ? previousOffset : null }) : null,
    results,
  };
}
