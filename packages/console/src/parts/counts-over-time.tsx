// A bar chart of counts over time, with a table of the same numbers.

import { type PointerEvent, useState } from 'react';
import { formatNumber, words } from '../words.ts';
import { AxisLabels } from './axis-labels.tsx';
import { computeBars } from './chart.tsx';
import { type Span, spanLength } from './span.tsx';

export type Interval = 'minute' | 'hour' | 'day';

/** Returns an interval that is long enough for users to distinguish the bars in the time range. */
export function chooseInterval(span: Span): Interval {
  const hours = spanLength(span) / 3_600_000;
  if (hours <= 3) return 'minute';
  return hours <= 24 * 7 ? 'hour' : 'day';
}

const text = words.counts;

export function CountsOverTime({
  results,
  interval,
  zone,
  label,
  tone,
  onShow,
}: {
  results: readonly { start: string; count: number }[];
  interval: Interval;
  zone: string;
  /** A one-sentence description of the chart for screen readers. */
  label: string;
  tone?: 'bad' | undefined;
  /**
   * Called when the user clicks a bar, or selects its row in the table. The page then shows only the bar's time range.
   */
  onShow?: (at: number) => void;
}) {
  const bars = computeBars(
    results.map(({ count }) => count),
    { width: 1000, height: 44 },
  );
  const [pointed, setPointed] = useState<number | null>(null);
  const room = 1000 / Math.max(1, results.length);
  const labelOf = (iso: string) => formatStart(iso, zone, interval);
  const shown = pointed === null ? undefined : results[pointed];
  const point = ({ currentTarget, clientX }: PointerEvent<HTMLElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setPointed(Math.max(0, Math.min(results.length - 1, Math.floor(((clientX - left) / width) * results.length))));
  };
  return (
    <div className={tone ? `counts ${tone}` : 'counts'}>
      <div
        className="counts-plot"
        onPointerDown={point}
        onPointerMove={point}
        onPointerLeave={({ pointerType }) => pointerType !== 'touch' && setPointed(null)}
      >
        <svg width="100%" height="48" viewBox="0 0 1000 48" preserveAspectRatio="none" role="img" aria-label={label}>
          {results.map(({ start }, at) => {
            const bar = bars[at];
            return (
              // Keyboard users can select a bar in the table below.
              // biome-ignore lint/a11y/noStaticElementInteractions: the pointer is an alternative to the keyboard
              <g key={start} className={onShow ? 'counts-bar counts-click' : 'counts-bar'} onClick={() => onShow?.(at)}>
                <rect x={at * room} y="0" width={room} height="48" className="counts-ground" />
                {bar && <rect {...bar} y={bar.y + 3} />}
              </g>
            );
          })}
          <line x1="0" x2="1000" y1="47.5" y2="47.5" className="counts-line" />
        </svg>
        {pointed !== null && shown && (
          <span
            className="counts-tip"
            style={{ insetInlineStart: `clamp(6em, ${((pointed + 0.5) / results.length) * 100}%, calc(100% - 6em))` }}
          >
            {text.bar(labelOf(shown.start), shown.count)}
          </span>
        )}
      </div>
      <AxisLabels labels={results.map(({ start }) => labelOf(start))} most={3} />
      <Table {...{ results, labelOf, onShow }} />
    </div>
  );
}

function Table({
  results,
  labelOf,
  onShow,
}: {
  results: readonly { start: string; count: number }[];
  labelOf: (iso: string) => string;
  onShow: ((at: number) => void) | undefined;
}) {
  return (
    <details className="counts-table">
      <summary className="hint">{text.table}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <div className="counts-scroll" tabIndex={0}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{text.when}</th>
              <th scope="col" className="number">
                {text.count}
              </th>
            </tr>
          </thead>
          <tbody>
            {results.map(
              ({ start, count }, at) =>
                count > 0 && (
                  <tr key={start}>
                    <td>
                      {onShow ? (
                        <button
                          type="button"
                          className="facts-value"
                          aria-label={text.narrow(labelOf(start))}
                          onClick={() => onShow(at)}
                        >
                          {labelOf(start)}
                        </button>
                      ) : (
                        labelOf(start)
                      )}
                    </td>
                    <td className="number">{formatNumber(count)}</td>
                  </tr>
                ),
            )}
          </tbody>
        </table>
      </div>
    </details>
  );
}

const labels: Record<Interval, Intl.DateTimeFormatOptions> = {
  minute: { hour: '2-digit', minute: '2-digit' },
  hour: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short', year: 'numeric' },
};

const formatStart = (iso: string, zone: string, interval: Interval) =>
  new Intl.DateTimeFormat('en-GB', { ...labels[interval], timeZone: zone }).format(new Date(iso));
