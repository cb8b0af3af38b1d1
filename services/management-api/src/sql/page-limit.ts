/** Sizes clients ask for, the default among them. */
const usualLimits = new Set([10, 20, 25, 50, 100, 200, 500, 1000]);

export interface PageLimits {
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
