// Tables of query results, and the query for the persons that a number counts.

import {
  computeChange,
  computeOverallValue,
  formatChange,
  formatValue,
  isGoodChange,
  readNumberFormat,
  seriesValueAt,
} from '@millrace/contracts/numbers';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { FunnelResult } from './funnel.tsx';
import { type InsightQuery, toFields, toFieldsList } from './insight-query.ts';
import { PersonsButton } from './persons-button.tsx';
import { RetentionResult } from './retention.tsx';
import {
  chooseTone,
  formatSeriesName,
  getSeriesKey,
  isCumulative,
  type Point,
  type Series,
  selectCurrent,
} from './series.ts';
import { readTimes, TimesToConvert } from './times.tsx';
import { text } from './words.ts';
import './results.css';

/** Returns the series of a result with values over time. Returns null for other results. */
export function readSeriesOverTime(insightQuery: InsightQuery, results: unknown): Series[] | null {
  const isOverTime = toFieldsList(results).some(({ days }) => Array.isArray(days) && days.length > 0);
  if (!isOverTime || insightQuery.kind === 'RetentionQuery') return null;
  // The API returns funnel trends without a label.
  return (results as Series[]).map((one) => (one.label === undefined ? { ...one, label: text.converted } : one));
}

/** Returns the series of a result with one value for the entire range. Returns null for other results. */
export function readTotalSeries(insightQuery: InsightQuery, results: unknown): Series[] | null {
  const isInTotal = toFieldsList(results).some(({ aggregated_value: total }) => typeof total === 'number');
  return isInTotal && insightQuery.kind === 'TrendsQuery' ? (results as Series[]) : null;
}

/** Shows any result that is not a chart over time. */
export function ResultTable({
  insightQuery,
  results,
  columns,
  isTile = false,
  onPersons,
}: {
  insightQuery: InsightQuery;
  results: unknown;
  columns: readonly string[] | null | undefined;
  isTile?: boolean;
  onPersons?: ((point: Point) => void) | undefined;
}) {
  const list = Array.isArray(results) ? results : [];
  const times = readTimes(toFields(results));
  if (times) return <TimesToConvert times={times} />;
  if (columns) return <RowsTable rows={list} columns={columns} />;
  if (insightQuery.kind === 'RetentionQuery')
    return <RetentionResult groups={toFieldsList(list)} insightQuery={insightQuery} onPersons={onPersons} />;
  if (insightQuery.kind === 'FunnelsQuery')
    return <FunnelResult results={list} {...{ insightQuery, isTile, onPersons }} />;
  const hasPersons = toFields(insightQuery.trendsFilter).formula === undefined;
  const open = (one: Series) =>
    onPersons?.({ name: text.personsOf(formatSeriesName(one)), source: buildActorsQuery(insightQuery, one) });
  return (
    <SeriesTable
      insightQuery={insightQuery}
      series={list as Series[]}
      onSeries={onPersons && hasPersons ? open : undefined}
    />
  );
}

/**
 * Builds the query for the persons that a number counts.
 * @param day the start of the interval; undefined for the entire range
 */
export function buildActorsQuery(insightQuery: InsightQuery, one: Series, day?: string): object {
  if (insightQuery.kind === 'FunnelsQuery')
    return {
      kind: 'FunnelsActorsQuery',
      source: insightQuery,
      funnelTrendsEntrancePeriodStart: day,
      ...(one.breakdown_value !== undefined && { funnelStepBreakdown: one.breakdown_value }),
    };
  return {
    kind: 'InsightActorsQuery',
    source: insightQuery,
    ...(day !== undefined && { day }),
    ...(one.status === undefined ? { series: one.order ?? 0 } : { status: one.status }),
    ...(one.breakdown_value !== undefined && { breakdown: one.breakdown_value }),
    ...(one.compare_label !== undefined && { compare: one.compare_label }),
  };
}

/**
 * A table with one row for each series. For the current and the previous period, a row shows the total, or the average
 * if the values cannot be added up.
 */
export function SeriesTable({
  insightQuery,
  series,
  onSeries,
}: {
  insightQuery: InsightQuery;
  series: readonly Series[];
  onSeries?: ((series: Series) => void) | undefined;
}) {
  const current = selectCurrent(series);
  const isCompared = current.length < series.length;
  const format = readNumberFormat(insightQuery);
  const figureOf = (one: Series) => computeOverallValue(one, isCumulative(insightQuery));
  const averages = current.filter((one) => figureOf(one).isAverage).length;
  const before = (one: Series) =>
    series.find((other) => other.compare_label === 'previous' && getSeriesKey(one) === getSeriesKey(other));
  return (
    <div className="insight-table">
      <table className="table" aria-label={text.series}>
        <thead>
          <tr>
            <th>{text.series}</th>
            <th className="number">
              {averages === 0 ? text.total : averages === current.length ? text.average : text.value}
            </th>
            {isCompared && (
              <>
                <th className="number">{text.before}</th>
                <th className="number">{text.change}</th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {current.map((one, at) => {
            const former = before(one);
            const { value, isAverage } = figureOf(one);
            const change = former === undefined ? null : computeChange(value, figureOf(former).value, format);
            const isGood = isGoodChange(change, format);
            return (
              <tr key={getSeriesKey(one)}>
                <td>
                  <span className={`insight-mark ${chooseTone(one, at)}`} />
                  {formatSeriesName(one)}
                </td>
                <td className="number">
                  <PersonsButton
                    count={formatValue(value, format)}
                    label={text.personsAt(formatSeriesName(one), formatValue(value, format))}
                    onOpen={onSeries && (() => onSeries(one))}
                  />
                  {isAverage && averages < current.length && <span className="hint"> {text.onAverage}</span>}
                </td>
                {isCompared && (
                  <>
                    <td className="number quiet">
                      {former === undefined ? '–' : formatValue(figureOf(former).value, format)}
                    </td>
                    <td className={`number ${isGood === null ? 'quiet' : isGood ? 'good' : 'bad'}`}>
                      {formatChange(change, format)}
                    </td>
                  </>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A table with one row for each interval. Each number opens a list of the persons it counts. */
export function TimeTable({
  series,
  insightQuery,
  onPoint,
}: {
  series: readonly Series[];
  insightQuery: InsightQuery;
  onPoint?: ((series: Series, at: number) => void) | undefined;
}) {
  const format = readNumberFormat(insightQuery);
  const days = series[0]?.days ?? [];
  const nameOf = (one: Series) =>
    one.compare_label === 'previous' ? `${formatSeriesName(one)} · ${text.before}` : formatSeriesName(one);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <div className="insight-table insight-scroll" tabIndex={0}>
      <table className="table" aria-label={text.result}>
        <thead>
          <tr>
            <th>{text.begin}</th>
            {series.map((one) => (
              <th key={nameOf(one)} className="number">
                {nameOf(one)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((day, at) => (
            <tr key={day}>
              <td className="mono">{day}</td>
              {series.map((one) => {
                const value = seriesValueAt(one, at);
                const shown = value === null ? '–' : formatValue(value, format);
                return (
                  <td key={nameOf(one)} className="number">
                    <PersonsButton
                      count={shown}
                      label={text.personsAt(nameOf(one), `${day}: ${shown}`)}
                      onOpen={onPoint && value !== null ? () => onPoint(one, at) : undefined}
                    />
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RowsTable({ rows, columns }: { rows: readonly unknown[]; columns: readonly string[] }) {
  const shown = (cell: unknown) =>
    typeof cell === 'object' && cell !== null ? JSON.stringify(cell) : String(cell ?? '');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <div className="insight-table insight-scroll" tabIndex={0}>
      <table className="table" aria-label={text.result}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name}>{escapeInvisible(name)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ID
            <tr key={at}>
              {(Array.isArray(row) ? row : [row]).map((cell, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is identified by its index
                <td key={place}>{escapeInvisible(shown(cell)).slice(0, 200)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
