import { csvText } from '@millrace/contracts/csv';
import { resultTable } from '@millrace/contracts/result-table';
import { TextContent } from '@millrace/http';

/** How a route declares that its result may be a file. */
export const csvDeclaration = {
  mediaType: 'text/csv; charset=utf-8',
  example: 'time,order placed\r\n2026-11-20,3\r\n',
};

/** A result as a file; where there is none yet it is empty. */
export function csvContent({ results, columns }: { results: unknown; columns?: unknown }, name: string): TextContent {
  const table = resultTable(results, Array.isArray(columns) ? columns : null);
  const text = table.columns.length === 0 ? '' : csvText([table.columns, ...table.rows]);
  return new TextContent(text, { 'Content-Disposition': `attachment; filename="${name}.csv"` });
}
