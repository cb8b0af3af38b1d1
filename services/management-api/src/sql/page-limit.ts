/** Sizes clients ask for, the default among them. */
const usualLimits = new Set([10, 20, 25, 50, 100, 200, 500, 1000]);

interface PageLimits {
  /** The clause of the page. */
  page: string;
  /** The clause for all rows up to the page's end. */
  reach: string;
}

/**
 * `LIMIT … OFFSET …` of a page. The first page of a usual size has its size in the text: of a number it does not know the
 * server assumes a tenth of all rows, and so would never keep the plan of a prepared statement over a large table.
 *
 * @param parameter registers a value and returns its placeholder.
 */
export function pageLimit(
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
 * Keeps the text of a list's statement for each form of `LIMIT`, of which there are few. A text put together again for each
 * request has to be read as a whole to find out that it is the statement prepared already.
 */
export function pageText(build: (limits: PageLimits) => string): (limits: PageLimits) => string {
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
