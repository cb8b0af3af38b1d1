// Shows a retention query's result: how many persons returned in each later interval.

import { formatPercent, formatValue } from '@millrace/contracts/numbers';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { useTimezone } from '../frame/project.ts';
import { SeriesChart } from './chart.tsx';
import { type Fields, type InsightQuery, toFields, toFieldsList } from './insight-query.ts';
import { PersonsButton } from './persons-button.tsx';
import {
  buildRetentionRows,
  computeMeanShares,
  type RetentionCell,
  type RetentionRow,
  toWallTime,
} from './retention-cells.ts';
import type { Point } from './series.ts';
import { text } from './words.ts';

const percent = (share: number) => formatPercent(share * 100);

/** For each breakdown value, a table of how many persons started in each interval, and how many returned. */
export function RetentionResult(props: {
  groups: readonly Fields[];
  insightQuery: InsightQuery;
  onPersons?: ((point: Point) => void) | undefined;
}) {
  const timezone = useTimezone();
  const filter = toFields(props.insightQuery.retentionFilter);
  const { period = 'Day', aggregationType = 'count' } = filter;
  const isShare = aggregationType === 'count';
  const now = toWallTime(new Date(), timezone);
  const names = [...new Set(props.groups.map(({ breakdown_value: value }) => value ?? null))];
  const tables = names.map((value) => {
    const groups = props.groups.filter(({ breakdown_value: own }) => (own ?? null) === value);
    const rows = buildRetentionRows(groups, { filter, isShare, now });
    const widest = groups.find(({ values }) => toFieldsList(values).length === Math.max(...rows.map(widthOf)));
    const labels = toFieldsList(widest?.values).map(({ label }) => String(label));
    return { name: value === null ? '' : escapeInvisible(String(value)), rows, labels: labels.slice(1) };
  });
  return (
    <>
      {/* A dashboard tile has room only for the table. */}
      {isShare && props.onPersons && <Curve tables={tables} />}
      {tables.map((table) => (
        <RetentionTable key={table.name} {...props} {...{ ...table, period, isShare }} />
      ))}
    </>
  );
}

interface Table {
  /** Name of the breakdown value. Empty without a breakdown. */
  name: string;
  rows: readonly RetentionRow[];
  labels: readonly string[];
}

const widthOf = ({ later }: RetentionRow) => later.length + 1;

/** A query whose only purpose is to format a chart's values as percentages. */
const inPercent = { kind: 'TrendsQuery', trendsFilter: { aggregationAxisFormat: 'percentage' } };

/**
 * Shows the weighted means of the columns, with a line for each breakdown value. Only complete intervals are included.
 */
function Curve({ tables }: { tables: readonly Table[] }) {
  const means = tables.map(({ rows }) => computeMeanShares(rows));
  const length = Math.min(...means.map((shares) => (shares.includes(null) ? shares.indexOf(null) : shares.length)));
  if (length < 2) return null;
  const series = tables.map(({ name, labels }, at) => ({
    label: name || text.weightedMean,
    days: labels.slice(0, length),
    data: (means[at] ?? []).slice(0, length).map((share) => (share ?? 0) * 100),
    count: 0,
    order: at,
    action: null,
  }));
  return (
    <div className="insight-curve">
      <SeriesChart series={series} insightQuery={inPercent} />
    </div>
  );
}

function RetentionTable({
  insightQuery,
  onPersons,
  name,
  rows,
  labels,
  period,
  isShare,
}: Omit<Parameters<typeof RetentionResult>[0], 'groups'> & Table & { period: unknown; isShare: boolean }) {
  const means = computeMeanShares(rows);
  const most = Math.max(0, ...rows.flatMap(({ later }) => later.map(({ share }) => share ?? 0)));
  const open = ({ size, begin }: RetentionRow, interval: number) => {
    const source = { kind: 'InsightActorsQuery', source: insightQuery, interval };
    onPersons?.({ name: text.personsAt(formatValue(size), shortOf(begin, period)), source });
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <div className="insight-table insight-scroll" tabIndex={0}>
      {name !== '' && <h3 className="insight-group">{name}</h3>}
      <table className="table insight-heat" aria-label={name === '' ? text.result : name}>
        <thead>
          <tr>
            <th>{text.begin}</th>
            <th className="number">{text.persons}</th>
            {labels.map((label) => (
              <th key={label} className="number">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {isShare && (
            <tr>
              <td>{text.weightedMean}</td>
              <td />
              {means.map((mean, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is identified by its index
                <td key={at} className="number">
                  {mean === null ? '' : percent(mean)}
                </td>
              ))}
            </tr>
          )}
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an hour occurs twice when clocks are put back
            <tr key={at}>
              <td className="mono">{shortOf(row.begin, period)}</td>
              <td className="number">
                <PersonsButton
                  count={formatValue(row.size)}
                  label={text.personsAt(formatValue(row.size), shortOf(row.begin, period))}
                  onOpen={onPersons && name === '' ? () => open(row, at) : undefined}
                />
                {row.isInProgress && <InProgress />}
              </td>
              {row.later.map((cell, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is identified by its index
                <Cell key={place} cell={cell} most={most} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A table cell. The larger the fraction of persons who returned, the darker the color. */
function Cell({ cell: { count, share, state }, most }: { cell: RetentionCell; most: number }) {
  if (state === 'future' || count === null) return <td />;
  return (
    <td className="number insight-cell">
      {share !== null && <span className="insight-shade" style={{ opacity: most === 0 ? 0 : (share / most) * 0.5 }} />}
      {share === null ? formatValue(count) : percent(share)}
      {share !== null && <span className="insight-count hint">{formatValue(count)}</span>}
      {state === 'in progress' && <InProgress />}
    </td>
  );
}

const InProgress = () => (
  <abbr className="insight-open" title={text.inProgress}>
    *
  </abbr>
);

const shortOf = (begin: string, period: unknown) =>
  period === 'Hour' ? begin.slice(0, 16).replace('T', ' ') : begin.slice(0, 10);
