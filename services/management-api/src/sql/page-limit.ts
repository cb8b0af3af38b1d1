/** Common page sizes. They include the default. */
const usualLimits = new Set([10, 20, 25, 50, 100, 200, 500, 1000]);

interface PageLimits {
  page: string;
  /** `LIMIT` clause for all rows up to the end of the page. */
  reach: string;
}

/**
 * Returns the `LIMIT … OFFSET …` clause of a page. On the first page, a common page size is written into the SQL
 * instead of being a parameter. If the limit is a parameter, PostgreSQL assumes a tenth of all rows, and would never
 * keep the plan of a prepared statement over a large table.
 * @param parameter a function that adds a value and returns its placeholder
 */
export function toPageClauses(
  { limit, offset }: { limit: number; offset: number },
  parameter: (value: unknown) => string,
): PageLimits {
  if (offset === 0 && usualLimits.has(limit)) return { page: `LIMIT ${limit}`, reach: `LIMIT ${limit}` };
  const [size, skipped] = [parameter(limit), parameter(offset)];
  return {
    page: `LIMIT ${size}::bigint OFFSET ${skipped}::bigint`,
    reach: `LIMIT ${size}::bigint + ${skipped}::bigint`,
  };
}

/**
 * Caches the SQL of a list's statement for each of the few variants of `LIMIT`. PostgreSQL's driver compares the SQL
 * with the prepared statement, which is fast if both are the same string object.
 */
export function buildPageSql(build: (limits: PageLimits) => string): (limits: PageLimits) => string {
  const texts = new Map<string, string>();
  return (limits) => {
    let text = texts.get(limits.page);
    if (text === undefined) {
      text = build(limits);
      texts.set(limits.page, text);
    }
    return text;
  };
}

/**
 * A row of a page with the total number, from `total LEFT JOIN LATERAL page`. If the page is empty, the result is a
 * single row whose other columns are null.
 */
export type Counted<Row extends { id: unknown }> = { count: number } & (Row | { [Name in keyof Row]: null }) &
  Record<string, unknown>;

export function splitCount<Row extends { id: unknown }>(rows: Counted<Row>[]): { count: number; results: Row[] } {
  const results = rows.filter((row): row is Counted<Row> & Row => row.id !== null);
  return { count: rows[0]?.count ?? 0, results };
}
