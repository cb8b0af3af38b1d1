// The table of an SQL result, with pages and keyboard navigation between cells.

import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { copyText as copyToClipboard } from '../parts/copy.ts';
import { CellValue, cellClass } from './cell.tsx';
import { type Column, cellAt, formatForCopy, formatPrettyJson } from './columns.ts';
import { text } from './words.ts';
import './sql.css';

const pageSize = 100;

interface Place {
  row: number;
  column: number;
}

/** Shows rows page by page. Arrow keys select a cell, whose complete value is shown below the table. */
export function ResultTable({ columns, rows }: { columns: readonly Column[]; rows: readonly unknown[] }) {
  const [chosen, setChosen] = useState<{ rows: unknown; page: number; place: Place | null }>();
  // A new result starts on its first page.
  const { page, place } = chosen?.rows === rows ? chosen : { page: 0, place: null };
  const table = useRef<HTMLTableElement>(null);
  const id = useId();
  const idOf = ({ row, column }: Place) => `${id}-${row}-${column}`;
  const first = page * pageSize;
  const shown = rows.slice(first, first + pageSize);
  const turn = (to: number) => setChosen({ rows, page: to, place: null });
  const select = ({ row, column }: Place) => {
    const next = {
      row: Math.max(0, Math.min(shown.length - 1, row)),
      column: Math.max(0, Math.min(columns.length - 1, column)),
    };
    setChosen({ rows, page, place: next });
    table.current?.tBodies[0]?.rows[next.row]?.cells[next.column]?.scrollIntoView({
      block: 'nearest',
      inline: 'nearest',
    });
  };
  const valueAt = ({ row, column }: Place) => cellAt(shown[row], column);
  const press = (event: KeyboardEvent) => {
    const at = place ?? { row: 0, column: 0 };
    const isCopy = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c';
    if (isCopy && String(getSelection() ?? '') === '') void copyToClipboard(formatForCopy(valueAt(at)));
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    // The first key press selects the first cell.
    select(place === null ? at : { row: at.row + step[0], column: at.column + step[1] });
  };
  return (
    <>
      <div className="sql-scroll">
        {/* biome-ignore-start lint/a11y/noNoninteractiveElementToInteractiveRole: arrow keys move between its cells */}
        <table
          className="table sql-table"
          role="grid"
          tabIndex={0}
          aria-label={text.result}
          aria-rowcount={rows.length + 1}
          aria-activedescendant={place === null ? undefined : idOf(place)}
          ref={table}
          onKeyDown={press}
        >
          <thead>
            <tr aria-rowindex={1}>
              {columns.map(({ name, kind }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have the same name
                <th key={at} className={cellClass(kind) === 'number' ? 'number' : undefined} translate="no">
                  {escapeInvisible(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name
              <tr key={first + at} aria-rowindex={first + at + 2}>
                {columns.map(({ kind }, column) => (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the table takes the keys
                  // biome-ignore lint/a11y/useFocusableInteractive: the table has the focus
                  <td
                    // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
                    key={column}
                    id={idOf({ row: at, column })}
                    role="gridcell"
                    className={cellClass(kind)}
                    translate="no"
                    aria-selected={place?.row === at && place.column === column}
                    onClick={() => select({ row: at, column })}
                  >
                    <CellValue value={cellAt(row, column)} kind={kind} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {/* biome-ignore-end lint/a11y/noNoninteractiveElementToInteractiveRole: arrow keys move between its cells */}
      </div>
      {rows.length > pageSize && (
        <div className="sql-pages">
          <span className="quiet" role="status">
            {text.rows(first + 1, first + shown.length, rows.length)}
          </span>
          <Button isDisabled={page === 0} onPress={() => turn(page - 1)}>
            {text.previous}
          </Button>
          <Button isDisabled={first + pageSize >= rows.length} onPress={() => turn(page + 1)}>
            {text.next}
          </Button>
        </div>
      )}
      {place === null ? (
        <p className="hint sql-hint">{text.cellHint}</p>
      ) : (
        <CompleteValue name={columns[place.column]?.name ?? ''} value={valueAt(place)} />
      )}
    </>
  );
}

/** Number of rows and columns by which each key moves the selection. */
const steps: Record<string, readonly [rows: number, columns: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, Number.NEGATIVE_INFINITY],
  End: [0, Number.POSITIVE_INFINITY],
  PageUp: [-10, 0],
  PageDown: [10, 0],
};

function CompleteValue({ name, value }: { name: string; value: unknown }) {
  return (
    <section className="sql-value" aria-label={text.cell(escapeInvisible(name))}>
      <div className="sql-value-head">
        <strong className="cut" translate="no">
          {escapeInvisible(name)}
        </strong>
        <CopyButton text={formatForCopy(value)} look="plain">
          {text.copyCell}
        </CopyButton>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre className="code code-wrap" tabIndex={0}>
        {value === null ? text.null : escapeInvisible(formatPrettyJson(value) ?? formatForCopy(value))}
      </pre>
    </section>
  );
}
