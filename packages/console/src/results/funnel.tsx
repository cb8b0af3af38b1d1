// Shows a funnel query's result: how many persons reached each step.

import { chooseSeriesColor } from '@millrace/contracts/chart';
import { formatDuration, formatPercent, formatValue } from '@millrace/contracts/numbers';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { type Fields, type InsightQuery, toFieldsList } from './insight-query.ts';
import { PersonsButton } from './persons-button.tsx';
import type { Point } from './series.ts';
import { text } from './words.ts';
import './funnel.css';

interface Step {
  name: string;
  count: number;
  /**
   * Percentage of the persons in the first step (`ofFirst`) or in the previous step (`ofBefore`). Null if the compared
   * step has no persons.
   */
  ofFirst: number | null;
  ofBefore: number | null;
  dropped: number;
  /** Median number of seconds since the previous step. */
  median: number | null;
}

interface Group {
  /** Name of the breakdown value. Empty without a breakdown. */
  name: string;
  value: unknown;
  tone: string;
  steps: Step[];
}

const shareOf = (count: number, whole: number) => (whole === 0 ? null : (count / whole) * 100);
const percentOf = (share: number | null) => (share === null ? '–' : formatPercent(share));

function groupOf(steps: readonly Fields[], at: number): Group {
  const value = steps[0]?.breakdown_value;
  const counts = steps.map(({ count }) => Number(count));
  const [first = 0] = counts;
  const color = chooseSeriesColor(at, { breakdown_value: value });
  const name = value === undefined ? '' : escapeInvisible(Array.isArray(value) ? value.join(', ') : String(value));
  return {
    value,
    tone: `series-${typeof color === 'number' ? color + 1 : color}`,
    name: value === undefined ? '' : name || text.noValue,
    steps: steps.map((step, place) => {
      const [count = 0, before = first] = [counts[place], counts[place - 1]];
      const { median_conversion_time: median } = step;
      return {
        name: escapeInvisible(String(step.custom_name ?? step.name ?? text.anyEvent)),
        count,
        ofFirst: shareOf(count, first),
        ofBefore: shareOf(count, before),
        dropped: before - count,
        median: typeof median === 'number' ? median : null,
      };
    }),
  };
}

interface FunnelProps {
  results: readonly unknown[];
  insightQuery: InsightQuery;
  /**
   * Whether to hide the table of a funnel without a breakdown, so that the bars fill the tile. Screen readers still
   * read the hidden table.
   */
  isTile?: boolean;
  onPersons?: ((point: Point) => void) | undefined;
}

export function FunnelResult({ results, insightQuery, isTile = false, onPersons }: FunnelProps) {
  const groups = (results.some(Array.isArray) ? results.map(toFieldsList) : [toFieldsList(results)]).map(groupOf);
  const [first] = groups;
  if (first === undefined) return null;
  const open =
    onPersons &&
    (({ name: group, value }: Group, step: number, isDropped: boolean) => {
      const name = first.steps[step]?.name ?? '';
      const title = isDropped
        ? text.droppedAt(name)
        : group === ''
          ? text.personsOf(name)
          : text.personsAt(name, group);
      const source = {
        kind: 'FunnelsActorsQuery',
        source: insightQuery,
        funnelStep: isDropped ? -(step + 1) : step + 1,
        ...(value !== undefined && { funnelStepBreakdown: value }),
      };
      onPersons({ name: title, source });
    });
  const isSingle = groups.length === 1 && first.name === '';
  return (
    <>
      <Overall groups={groups} />
      <Bars groups={groups} />
      {isSingle ? (
        <div className={isTile ? 'only-heard' : undefined}>
          <StepsTable group={first} onOpen={open} />
        </div>
      ) : (
        <GroupsTable groups={groups} onOpen={open} />
      )}
    </>
  );
}

function Overall({ groups }: { groups: readonly Group[] }) {
  const sum = (pick: (steps: readonly Step[]) => Step | undefined) =>
    groups.reduce((all, { steps }) => all + (pick(steps)?.count ?? 0), 0);
  const [entered, converted] = [sum((steps) => steps[0]), sum((steps) => steps.at(-1))];
  return (
    <p className="insight-figure funnel-figure">
      <strong className="tile-figure ink">{percentOf(shareOf(converted, entered))}</strong>
      <span className="quiet">
        {text.conversion} · {text.convertedOf(formatValue(converted), formatValue(entered))}
      </span>
    </p>
  );
}

function Bars({ groups }: { groups: readonly Group[] }) {
  const most = Math.max(1, ...groups.map(({ steps }) => steps[0]?.count ?? 0));
  const heightOf = (group: Group, count: number) =>
    `${groups.length === 1 ? (count / most) * 100 : (count / Math.max(1, group.steps[0]?.count ?? 0)) * 100}%`;
  return (
    <ol className="funnel-bars" aria-hidden="true">
      {groups[0]?.steps.map(({ name, count, ofFirst }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its index
        <li key={at}>
          <div className="funnel-columns">
            {groups.map((group) => {
              const step = group.steps[at];
              if (step === undefined) return null;
              const before = group.steps[at - 1]?.count ?? step.count;
              return (
                <span
                  key={group.name}
                  className={`funnel-column ${group.tone}`}
                  title={text.bar(group.name, formatValue(step.count), percentOf(step.ofFirst))}
                >
                  <span className="funnel-before" style={{ blockSize: heightOf(group, before) }} />
                  <span className="funnel-now" style={{ blockSize: heightOf(group, step.count) }} />
                </span>
              );
            })}
          </div>
          <p className="cut">
            {at + 1}. {name}
          </p>
          {groups.length === 1 && <p className="hint">{`${percentOf(ofFirst)} · ${formatValue(count)}`}</p>}
        </li>
      ))}
    </ol>
  );
}

type Open = ((group: Group, step: number, isDropped: boolean) => void) | undefined;

function StepsTable({ group, onOpen }: { group: Group; onOpen: Open }) {
  return (
    <div className="insight-table funnel-table">
      <table className="table" aria-label={text.result}>
        <thead>
          <tr>
            <th>{text.step}</th>
            <th className="number">{text.reached}</th>
            <th className="number">{text.conversion}</th>
            <th className="number funnel-wide">{text.fromBefore}</th>
            <th className="number funnel-wide">{text.dropped}</th>
            <th className="number">{text.median}</th>
          </tr>
        </thead>
        <tbody>
          {group.steps.map(({ name, count, ofFirst, ofBefore, dropped, median }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its index
            <tr key={at}>
              <td>
                {at + 1}. {name}
              </td>
              <td className="number">
                <PersonsButton
                  count={formatValue(count)}
                  label={text.personsAt(name, formatValue(count))}
                  onOpen={onOpen && (() => onOpen(group, at, false))}
                />
              </td>
              <td className="number">{percentOf(ofFirst)}</td>
              <td className="number funnel-wide">{at === 0 ? '' : percentOf(ofBefore)}</td>
              <td className="number funnel-wide">
                {at > 0 && (
                  <PersonsButton
                    count={formatValue(dropped)}
                    label={text.droppedAt(`${name}, ${formatValue(dropped)}`)}
                    onOpen={onOpen && dropped > 0 ? () => onOpen(group, at, true) : undefined}
                  />
                )}
              </td>
              <td className="number quiet">{at === 0 ? '' : median === null ? '–' : formatDuration(median)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function GroupsTable({ groups, onOpen }: { groups: readonly Group[]; onOpen: Open }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <div className="insight-table insight-scroll" tabIndex={0}>
      <table className="table" aria-label={text.result}>
        <thead>
          <tr>
            <th>{text.breakdown}</th>
            {groups[0]?.steps.map(({ name }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its index
              <th key={at} className="number">
                {at + 1}. {name}
              </th>
            ))}
            <th className="number">{text.conversion}</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.name}>
              <td>
                <span className={`insight-mark ${group.tone}`} />
                {group.name}
              </td>
              {group.steps.map(({ name, count, ofBefore, median }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its index
                <td key={at} className="number">
                  <PersonsButton
                    count={formatValue(count)}
                    label={text.personsAt(`${name}, ${group.name}`, formatValue(count))}
                    onOpen={onOpen && (() => onOpen(group, at, false))}
                  />
                  {at > 0 && <span className="hint funnel-more">{percentOf(ofBefore)}</span>}
                  {at > 0 && median !== null && (
                    <span className="hint funnel-more">{text.medianOf(formatDuration(median))}</span>
                  )}
                </td>
              ))}
              <td className="number">{percentOf(group.steps.at(-1)?.ofFirst ?? null)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
