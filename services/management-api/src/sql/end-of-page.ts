import type { Paged } from './page-within-bytes.ts';

/**
 * Where the next page begins.
 *
 * @param positionOf the sort key of a row, as the list's cursor schema has it.
 */
export function endOfPage<Row>(rows: Paged<Row>[], positionOf: (row: Row) => Record<string, unknown>) {
  const last = rows.at(-1);
  return { nextPosition: last !== undefined && last.fetched > rows.length ? positionOf(last) : null };
}
