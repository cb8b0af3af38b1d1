/** Formats CSV for the API, the CLI and the console. This file also runs in browsers. */

type CsvCell = string | number | boolean | null;

/**
 * Formats rows as CSV (RFC 4180). Null becomes an empty cell.
 *
 * Anyone who can send an event can choose the cells' content, and spreadsheet programs execute a cell that begins like
 * a formula. Such a cell gets an apostrophe as a prefix, which marks it as text. Plain numbers stay unchanged.
 */
export function formatCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

/** Semicolons and tabs need quotes too, because spreadsheet programs in some regions treat them as separators. */
const special = /[",;\t\r\n]/;
/** East Asian editions of spreadsheet programs treat full-width characters like their ASCII equivalents. */
const formula = /^\s*[=+\-@\t\r\n＝＋－＠]/;
const plainNumber = /^[+-]?\d+(\.\d+)?$/;

function cellText(cell: CsvCell): string {
  if (typeof cell !== 'string') return String(cell ?? '');
  const isFormula = formula.test(cell) && !plainNumber.test(cell);
  const text = isFormula ? `'${cell}` : cell;
  return isFormula || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
