/** The one writer of CSV files: for the API, the command and the console. It runs in browsers too. */

type CsvCell = string | number | boolean | null;

/**
 * Rows as CSV (RFC 4180). Null is an empty cell. Texts come from anybody who can send an event, and spreadsheet programs run a cell that
 * begins like a formula. Such a text gets an apostrophe in front, by which these programs know a text; plain numbers stay.
 */
export function csvText(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

/** In some regions programs take semicolons or tabs to be separators as well, so cells with these are quoted too. */
const special = /[",;\t\r\n]/;
/** Full-width characters count as their usual form in East Asian editions. */
const formula = /^\s*[=+\-@\t\r\n＝＋－＠]/;
const plainNumber = /^[+-]?\d+(\.\d+)?$/;

function cellText(cell: CsvCell): string {
  if (typeof cell !== 'string') return String(cell ?? '');
  const isFormula = formula.test(cell) && !plainNumber.test(cell);
  const text = isFormula ? `'${cell}` : cell;
  return isFormula || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
