import { formatValue, readNumberFormat } from '@millrace/contracts/numbers';
import type { RefObject } from 'react';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { SeriesChart } from '../results/chart.tsx';
import type { Plot } from '../results/plot.ts';
import { CellValue, cellClass } from './cell.tsx';
import { chooseChartColumns, createChart, maxPoints } from './chart.ts';
import { type Column, cellAt, readColumns } from './columns.ts';
import { getDisplay, type SqlNode } from './node.ts';
import { text } from './words.ts';
import './sql.css';

/** Shows an SQL insight's result in a dashboard tile or on a public page. */
export function SqlResult({
  node,
  rows,
  columns: names,
  types,
}: {
  node: SqlNode;
  rows: readonly unknown[];
  columns: readonly string[];
  types: unknown;
}) {
  const columns = readColumns(names, types, rows);
  if (rows.length === 0) return <p className="board-said quiet">{text.noRows}</p>;
  switch (getDisplay(node)) {
    case 'ActionsLineGraph':
    case 'ActionsBar':
      return <SqlChart {...{ node, rows, columns }} />;
    case 'BoldNumber':
      return <SqlNumber {...{ rows, columns }} />;
    default:
      return <FirstRows {...{ rows, columns }} />;
  }
}

interface Shown {
  rows: readonly unknown[];
  columns: readonly Column[];
}

/** A chart of an SQL result. @param shown a ref that receives the visible chart, for exporting an image */
export function SqlChart({ node, rows, columns, shown }: Shown & { node: SqlNode; shown?: RefObject<Plot | null> }) {
  const chosen = chooseChartColumns(node, columns, rows);
  if (chosen === null) return <p className="board-said quiet">{text.noChart}</p>;
  const { series, insightQuery, isCut } = createChart(rows, columns, { node, chosen });
  return (
    <>
      <SeriesChart series={series} insightQuery={insightQuery} {...(shown && { shown })} />
      {isCut && <p className="hint sql-hint">{text.cut(maxPoints)}</p>}
    </>
  );
}

export function SqlNumber({ rows, columns }: Shown) {
  const at = columns.findIndex(({ kind }) => kind === 'number');
  const value = cellAt(rows[0], at);
  if (at === -1) return <p className="board-said quiet">{text.noNumber}</p>;
  return (
    <div className="sql-number">
      <strong>{typeof value === 'number' ? formatValue(value, readNumberFormat(null)) : text.null}</strong>
      <span className="quiet" translate="no">
        {escapeInvisible(columns[at]?.name ?? '')}
      </span>
    </div>
  );
}

const maxRows = 100;

function FirstRows({ rows, columns }: Shown) {
  return (
    <div className="sql-tile">
      <table className="table sql-table" aria-label={text.result}>
        <thead>
          <tr>
            {columns.map(({ name, kind }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have the same name
              <th key={at} className={cellClass(kind) === 'number' ? 'number' : undefined} translate="no">
                {escapeInvisible(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, maxRows).map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name
            <tr key={at}>
              {columns.map(({ kind }, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
                <td key={column} className={cellClass(kind)} translate="no">
                  <CellValue value={cellAt(row, column)} kind={kind} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > maxRows && <p className="hint sql-hint">{text.firstRows(maxRows)}</p>}
    </div>
  );
}
