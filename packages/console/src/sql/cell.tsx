import { escapeInvisible } from '../event-detail/json-text.ts';
import { type ColumnKind, formatCell } from './columns.ts';
import { text } from './words.ts';

const longestCell = 200;

export function CellValue({ value, kind }: { value: unknown; kind: ColumnKind }) {
  if (value === null) return <span className="sql-null">{text.null}</span>;
  return <>{escapeInvisible(formatCell(value, kind).slice(0, longestCell))}</>;
}

/** Returns the CSS class of a cell. Numbers are right-aligned. Times and JSON have a monospaced font. */
export const cellClass = (kind: ColumnKind) => (kind === 'number' ? 'number' : kind === 'text' ? undefined : 'mono');
