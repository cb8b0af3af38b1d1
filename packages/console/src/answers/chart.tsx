import { AxisLabels } from '../parts/axis-labels.tsx';
import { currentOf, formatValue, keyOf, nameOfSeries, type Series, toneOf } from './series.ts';
import { text } from './words.ts';
import './answers.css';

const [width, height] = [1000, 200];

/** Round steps of an axis from its least to its most. */
function ticksOf(least: number, most: number): number[] {
  const span = most - least;
  if (!(span > 0)) return [least];
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = ([1, 2, 5, 10].find((one) => one * power * 4 >= span) ?? 10) * power;
  const first = Math.floor(least / step) * step;
  const ticks = [];
  for (let at = 0; first + at * step < most + step; at += 1) ticks.push(first + at * step);
  return ticks;
}

const dayOf = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

const monthOf = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' });

/** What stands below each point: the month, when all points are first days of months, or the day and the time. */
function labelsOf(days: readonly string[]): string[] {
  const dates = days.map((day) => new Date(`${day.slice(0, 10)}T00:00:00Z`));
  const isMonthly =
    dates.length > 1 &&
    dates.every((date, at) => date.getUTCDate() === 1 && date.getTime() !== dates[at - 1]?.getTime());
  return isMonthly ? dates.map((date) => monthOf.format(date)) : days.map(shortDay);
}

/** `2026-11-23` or `2026-11-23 16:00:00`, as an axis has room for it. */
function shortDay(day: string): string {
  const date = new Date(`${day.slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(date.getTime()) ? day : `${dayOf.format(date)} ${day.slice(11, 16)}`.trim();
}

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Lines or bars over time; the time before is dotted. @param onPoint opens what is behind a time */
export function SeriesChart({
  series,
  isBars,
  onPoint,
}: {
  series: readonly Series[];
  isBars: boolean;
  onPoint?: ((at: number) => void) | undefined;
}) {
  const current = currentOf(series);
  const days = current[0]?.days ?? [];
  const tops = days.map((_, at) => current.reduce((sum, { data }) => sum + Math.max(0, data[at] ?? 0), 0));
  const bottoms = days.map((_, at) => current.reduce((sum, { data }) => sum + Math.min(0, data[at] ?? 0), 0));
  const values = isBars ? [...tops, ...bottoms] : series.flatMap(({ data }) => data);
  const ticks = ticksOf(Math.min(0, ...values), Math.max(1, ...values));
  const [least = 0, most = 1] = [ticks[0], ticks.at(-1)];
  const y = (value: number) => height - ((value - least) / (most - least)) * height;
  const room = width / Math.max(1, days.length);
  const x = (at: number) => at * room + room / 2;
  const names = current.map(nameOfSeries);
  const said = text.chart(names.slice(0, 5), days[0] ?? '', days.at(-1) ?? '');
  return (
    <figure className="insight-chart">
      <div className="insight-axis hint" aria-hidden="true">
        {[...ticks].reverse().map((tick) => (
          <span key={tick}>{short.format(tick)}</span>
        ))}
      </div>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={said}>
        {ticks.map((tick) => (
          <line key={tick} x1="0" x2={width} y1={y(tick)} y2={y(tick)} className="insight-grid" />
        ))}
        {isBars ? (
          <Stacks series={current} {...{ x, y, room, count: days.length }} />
        ) : (
          series.map((one) => {
            const at = current.findIndex((other) => keyOf(other) === keyOf(one));
            const isBefore = one.compare_label === 'previous';
            const points = one.data.map((value, place) => `${x(place)},${y(value)}`).join(' ');
            return (
              <polyline
                key={`${one.compare_label} ${keyOf(one)}`}
                points={points}
                className={`insight-stroke ${toneOf(at)}${isBefore ? ' insight-before' : ''}`}
              />
            );
          })
        )}
        {days.map((day, at) => (
          // The table does the same by keyboard.
          // biome-ignore lint/a11y/noStaticElementInteractions: pointing is a second way
          <g
            key={day}
            className={onPoint ? 'insight-column insight-click' : 'insight-column'}
            onClick={() => onPoint?.(at)}
          >
            <title>
              {text.point(
                day,
                current
                  .map((one) => `${nameOfSeries(one)} ${formatValue(one.data[at] ?? 0)}`)
                  .slice(0, 12)
                  .join(', '),
              )}
            </title>
            <rect x={at * room} y="0" width={room} height={height} />
          </g>
        ))}
      </svg>
      <div className="insight-days">
        <AxisLabels labels={labelsOf(days)} most={6} />
      </div>
    </figure>
  );
}

function Stacks({
  series,
  x,
  y,
  room,
  count,
}: {
  series: readonly Series[];
  x: (at: number) => number;
  y: (value: number) => number;
  room: number;
  count: number;
}) {
  const bars = [];
  for (let at = 0; at < count; at += 1) {
    let [up, down] = [0, 0];
    for (const [number, one] of series.entries()) {
      const value = one.data[at] ?? 0;
      const from = value >= 0 ? up : down;
      const to = from + value;
      if (value >= 0) up = to;
      else down = to;
      if (value === 0) continue;
      const [top, bottom] = [y(Math.max(from, to)), y(Math.min(from, to))];
      bars.push(
        <rect
          key={`${at} ${number}`}
          x={x(at) - room * 0.35}
          y={top}
          width={room * 0.7}
          height={Math.max(1, bottom - top)}
          className={`insight-bar ${toneOf(number)}`}
        />,
      );
    }
  }
  return bars;
}
