import { formatCsv } from '@millrace/contracts/csv';
import { toResultTable } from '@millrace/contracts/result-table';
import { TextContent } from '@millrace/http';

export const csvDeclaration = {
  mediaType: 'text/csv; charset=utf-8',
  example: 'time,order placed\r\n2026-11-20,3\r\n',
};

/** Converts a result to a CSV file. The file is empty if the result has not been computed yet. */
export function toCsvContent({ results, columns }: { results: unknown; columns?: unknown }, name: string): TextContent {
  const table = toResultTable(results, Array.isArray(columns) ? columns : null);
  const text = table.columns.length === 0 ? '' : formatCsv([table.columns, ...table.rows]);
  return new TextContent(text, { 'Content-Disposition': `attachment; filename="${name}.csv"` });
}
