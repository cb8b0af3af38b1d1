/** Sizes clients ask for, the default among them. */
const usualLimits = new Set([10, 20, 25, 50, 100, 200, 500, 1000]);

/**
 * `LIMIT … OFFSET …` of a page. The first page of a usual size has its size in the text: of a number it does not know the
 * server assumes a tenth of all rows, and so would never keep the plan of a prepared statement over a large table.
 *
 * @param parameter registers a value and returns its placeholder.
 * @returns the clause of the `page`, and one for all rows up to its end: its `reach`.
 */
export function pageLimit(
  { limit, offset }: { limit: number; offset: number },
  parameter: (value: unknown) => string,
): { page: string; reach: string } {
  if (offset === 0 && usualLimits.has(limit)) return { page: `LIMIT ${limit}`, reach: `LIMIT ${limit}` };
  const [size, skipped] = [parameter(limit), parameter(offset)];
  return {
    page: `LIMIT ${size}::bigint OFFSET ${skipped}::bigint`,
    reach: `LIMIT ${size}::bigint + ${skipped}::bigint`,
  };
}
