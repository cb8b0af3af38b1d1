// Draws the lines and bars of a chart.

import { splitAtGaps } from '@millrace/contracts/chart';
import { seriesValueAt } from '@millrace/contracts/numbers';
import { memo } from 'react';
import type { Drawn, Plot } from './plot.ts';
import type { Series } from './series.ts';

/** Size of the drawing's coordinate system. The browser stretches the drawing to its container. */
const [width, height] = [1000, 1000];

/**
 * Draws lines or stacked bars. The component is memoized, so that moving the pointer does not redraw the chart. The
 * previous period is dotted, and the interval in progress is dashed.
 * @param bright the series to highlight; all other series are faded
 */
export const ChartMarks = memo(function ChartMarks({ plot, bright }: { plot: Plot; bright: string | null }) {
  const { drawn, isBars, ticks, y } = plot;
  const faded = (key: string) => (bright !== null && bright !== key ? ' chart-faded' : '');
  return (
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {ticks.map((tick) => (
        <line
          key={tick}
          {...{ x1: 0, x2: width, y1: y(tick) * height, y2: y(tick) * height }}
          className={tick === 0 ? 'chart-grid chart-zero' : 'chart-grid'}
        />
      ))}
      {isBars ? (
        <Stacks plot={plot} faded={faded} />
      ) : (
        drawn.map((one) => <Line key={one.key} plot={plot} one={one} more={faded(one.key)} />)
      )}
    </svg>
  );
});

function Line({ plot: { x, y, open }, one: { tone, series, before }, more }: { plot: Plot; one: Drawn; more: string }) {
  const pathOf = ({ data }: Series, runs: readonly number[][]) =>
    runs.map((run) => `M${run.map((at) => `${x(at) * width} ${y(data[at] ?? 0) * height}`).join('L')}`).join('');
  const last = series.data.length;
  const runs = (from: number, to: number) => splitAtGaps((at) => seriesValueAt(series, at), { from, to });
  // A point without neighbors cannot be part of a line, so draw it as a dot.
  const points = runs(0, last).filter(({ length }) => length === 1);
  const line = `chart-line ${tone}${more}`;
  return (
    <>
      {before && <path d={pathOf(before, [[...before.data.keys()]])} className={`${line} chart-before`} />}
      {last > 1 && <path d={pathOf(series, runs(0, open))} className={line} />}
      {last > 1 && open < last && <path d={pathOf(series, runs(open - 1, last))} className={`${line} chart-open`} />}
      {points.map((run) => (
        <path key={run[0]} d={`${pathOf(series, [run])}h0.01`} className={`${line} chart-point`} />
      ))}
    </>
  );
}

function Stacks({ plot: { stacks, days, x, y, open }, faded }: { plot: Plot; faded: (key: string) => string }) {
  const room = width / Math.max(1, days.length);
  return stacks.flatMap((bars, at) =>
    bars
      .filter(({ from, to }) => from !== to)
      .map(({ drawn: { key, tone }, from, to }) => {
        const [top, bottom] = [y(Math.max(from, to)) * height, y(Math.min(from, to)) * height];
        return (
          <rect
            key={`${days[at]} ${key}`}
            x={x(at) * width - room * 0.35}
            y={top}
            width={room * 0.7}
            height={Math.max(2, bottom - top)}
            className={`chart-bar ${tone}${at >= open ? ' chart-bar-open' : ''}${faded(key)}`}
          />
        );
      }),
  );
}
