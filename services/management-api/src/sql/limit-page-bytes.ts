/** Maximum size in bytes of a page in an offset-paginated list, excluding the page's last row. */
const maxBytes = 2 * 1024 * 1024;

/**
 * Returns SQL for the rows of `page` in order, up to the row at which the page reaches its maximum size.
 * @param columns the columns that can be large
 */
export function limitPageBytes(page: string, columns: readonly string[]): string {
  const bytes = columns.map((column) => `coalesce(octet_length(page.${column}::text), 0)`).join(' + ');
  return `WITH page AS MATERIALIZED (${page}),
     sized AS (SELECT page.*, sum(${bytes}) OVER (ROWS UNBOUNDED PRECEDING) - (${bytes}) AS bytes_before FROM page)
     SELECT * FROM sized WHERE bytes_before < ${maxBytes}`;
}
