import { formatPercent, formatValue } from '@millrace/contracts/numbers';
import { visible } from '../event-detail/json-text.ts';
import { useProject } from '../frame/project.ts';
import { PersonsButton } from './persons-button.tsx';
import { type Fields, fieldsOf, listOf, type Question } from './question.ts';
import {
  meanShares,
  type Period,
  type RetentionCell,
  type RetentionRow,
  retentionRows,
  wallTime,
} from './retention-cells.ts';
import type { Point } from './series.ts';
import { text } from './words.ts';

const percent = (share: number) => formatPercent(share * 100);

/** A table for each value of a breakdown: persons by when they began, and how many of them came back. */
export function Retention(props: {
  groups: readonly Fields[];
  question: Question;
  onPersons?: ((point: Point) => void) | undefined;
}) {
  const names = [...new Set(props.groups.map(({ breakdown_value: value }) => value ?? null))];
  return names.map((name) => {
    const groups = props.groups.filter(({ breakdown_value: value }) => (value ?? null) === name);
    return (
      <RetentionTable key={String(name)} {...props} groups={groups} name={name === null ? '' : visible(String(name))} />
    );
  });
}

function RetentionTable({ groups, question, onPersons, name }: Parameters<typeof Retention>[0] & { name: string }) {
  const { timezone } = useProject();
  const { period = 'Day', aggregationType = 'count' } = fieldsOf(question.retentionFilter);
  const isShare = aggregationType === 'count';
  const rows = retentionRows(groups, { period: period as Period, isShare, now: wallTime(new Date(), timezone) });
  const means = meanShares(rows);
  const most = Math.max(0, ...rows.flatMap(({ later }) => later.map(({ share }) => share ?? 0)));
  const longest = groups.find(({ values }) => listOf(values).length === means.length + 1);
  const labels = listOf(longest?.values).map(({ label }) => String(label));
  const open = ({ size, begin }: RetentionRow, interval: number) => {
    const source = { kind: 'InsightActorsQuery', source: question, interval };
    onPersons?.({ name: text.personsAt(formatValue(size), shortOf(begin, period)), source });
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <div className="insight-table insight-scroll" tabIndex={0}>
      {name !== '' && <h3 className="insight-group">{name}</h3>}
      <table className="table insight-heat" aria-label={name === '' ? text.answer : name}>
        <thead>
          <tr>
            <th>{text.begin}</th>
            <th className="number">{text.persons}</th>
            {labels.slice(1).map((label) => (
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
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
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
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
                <Cell key={place} cell={cell} most={most} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The darker, the more came back, up to the largest share of the table. */
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
