import { useRef } from 'react';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { SelectFilter } from '../../parts/select-filter.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { ExportMenu } from '../../results/export-menu.tsx';
import { renderImage } from '../../results/image.ts';
import type { Plot } from '../../results/plot.ts';
import { type ChartColumns, chooseChartColumns, toChartSettings } from '../../sql/chart.ts';
import { type Column, readColumns } from '../../sql/columns.ts';
import { type Display, getDisplay, type SqlNode } from '../../sql/node.ts';
import { SqlChart, SqlNumber } from '../../sql/result.tsx';
import { ResultTable } from '../../sql/result-table.tsx';
import type { CompletedQuery } from './run.ts';
import { text } from './words.ts';

/** Shows the latest result as a table, a chart or a number. */
export function ResultPane({
  completed: { node: completedNode, response, milliseconds },
  node,
  isOld,
  onNode,
}: {
  completed: CompletedQuery;
  node: SqlNode;
  /** Whether a newer query is running, whose result will replace this result. */
  isOld: boolean;
  onNode: (node: SqlNode) => void;
}) {
  const { results: rows, columns: names, types, hasMore, limit } = response;
  const columns = readColumns(names, types, rows);
  const display = getDisplay(node);
  const isChart = display === 'ActionsLineGraph' || display === 'ActionsBar';
  const chosen = isChart ? chooseChartColumns(node, columns, rows) : null;
  const shown = useRef<Plot>(null);
  const image = async () => {
    if (shown.current === null) throw new Error('No chart is shown.');
    return renderImage(shown.current);
  };
  const isOther = JSON.stringify(completedNode.source) !== JSON.stringify(node.source);
  return (
    <section className="sql-result" aria-label={text.result} {...(isOld && { 'data-old': '' })}>
      <div className="sql-result-head">
        <fieldset className="choices">
          <legend className="only-heard">{text.display}</legend>
          {Object.entries(text.displays).map(([way, name]) => (
            <button
              key={way}
              type="button"
              className="button"
              aria-pressed={way === display}
              onClick={() => onNode({ ...node, display: way as Display })}
            >
              {name}
            </button>
          ))}
        </fieldset>
        <span className="quiet" role="status">
          {text.rows(rows.length)} · {text.took(milliseconds)}
        </span>
        <span className="grow" />
        <ExportMenu results={rows} columns={names} image={chosen === null ? undefined : image} />
      </div>
      {isOther && <p className="hint sql-hint">{text.old}</p>}
      {hasMore === true && limit !== undefined && <p className="sql-note">{text.limited(limit)}</p>}
      {rows.length === 0 ? (
        <EmptyState title={text.noRows} icon="sql">
          <p className="quiet">{text.noRowsText}</p>
        </EmptyState>
      ) : isChart ? (
        <>
          {chosen !== null && (
            <ChartFields
              columns={columns}
              chosen={chosen}
              onChosen={(next) =>
                onNode({ ...node, chartSettings: { ...(node.chartSettings as object), ...toChartSettings(next) } })
              }
            />
          )}
          <SqlChart {...{ node, rows, columns, shown }} />
        </>
      ) : display === 'BoldNumber' ? (
        <SqlNumber {...{ rows, columns }} />
      ) : (
        <ResultTable {...{ rows, columns }} />
      )}
    </section>
  );
}

function ChartFields({
  columns,
  chosen,
  onChosen,
}: {
  columns: readonly Column[];
  chosen: ChartColumns;
  onChosen: (chosen: ChartColumns) => void;
}) {
  const numbers = columns.filter(({ kind, name }) => kind === 'number' && name !== chosen.x);
  const others = columns.filter(({ name }) => name !== chosen.x && !chosen.y.includes(name));
  return (
    <div className="sql-chart-fields">
      <SelectFilter
        name={text.x}
        value={chosen.x}
        options={named(columns)}
        onChoose={(x) => onChosen({ ...chosen, x })}
      />
      <fieldset className="sql-y">
        <legend className="only-heard">{text.y}</legend>
        <span className="quiet" aria-hidden="true">
          {text.y}:
        </span>
        {numbers.map(({ name }) => (
          <label key={name} translate="no">
            <input
              type="checkbox"
              checked={chosen.y.includes(name)}
              disabled={chosen.y.length === 1 && chosen.y[0] === name}
              onChange={({ target }) => {
                const y = numbers
                  .map((one) => one.name)
                  .filter((one) => (one === name ? target.checked : chosen.y.includes(one)));
                onChosen({ ...chosen, y });
              }}
            />
            {escapeInvisible(name)}
          </label>
        ))}
      </fieldset>
      <SelectFilter
        name={text.by}
        value={chosen.by ?? ''}
        options={{ '': text.noBreakdown, ...named(others) }}
        onChoose={(by) => onChosen({ ...chosen, by: by === '' ? null : by })}
      />
    </div>
  );
}

const named = (columns: readonly Column[]): Record<string, string> =>
  Object.fromEntries(columns.map(({ name }) => [name, escapeInvisible(name)]));
