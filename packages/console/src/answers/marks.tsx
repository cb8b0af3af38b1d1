import { memo } from 'react';
import type { Drawn, Plot } from './plot.ts';

/** Units of the drawing; it is stretched to its place. */
const [width, height] = [1000, 1000];

/** Lines or stacked bars, not drawn again while the pointer moves. The previous period is dotted, and the interval in progress is dashed. @param bright the only series that is not faded */
export const Marks = memo(function Marks({ plot, bright }: { plot: Plot; bright: string | null }) {
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
  const pathOf = (data: readonly number[], first = 0) =>
    data
      .slice(first)
      .map((value, at) => `${at === 0 ? 'M' : 'L'}${x(first + at) * width} ${y(value) * height}`)
      .join('');
  const over = series.data.slice(0, open);
  const line = `chart-line ${tone}${more}`;
  return (
    <>
      {before && <path d={pathOf(before.data)} className={`${line} chart-before`} />}
      {series.data.length === 1 ? (
        <path d={`${pathOf(series.data)}h0.01`} className={`${line} chart-point`} />
      ) : (
        <>
          <path d={pathOf(over)} className={line} />
          {open < series.data.length && (
            <path d={pathOf(series.data, Math.max(0, open - 1))} className={`${line} chart-open`} />
          )}
        </>
      )}
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
