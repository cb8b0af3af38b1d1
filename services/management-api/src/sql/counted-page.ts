/**
 * A row of a page with the number of rows on all pages, as `total LEFT JOIN LATERAL page` gives it: one row of nulls
 * where the page is empty.
 */
export type Counted<Row extends { id: unknown }> = { count: number } & (Row | { [Name in keyof Row]: null }) &
  Record<string, unknown>;

/** Takes the count and the page apart. */
export function countedPage<Row extends { id: unknown }>(rows: Counted<Row>[]): { count: number; results: Row[] } {
  const results = rows.filter((row): row is Counted<Row> & Row => row.id !== null);
  return { count: rows[0]?.count ?? 0, results };
}
