// Shows a histogram of the time that persons took to convert in a funnel.

import { formatDuration, formatPercent, formatValue } from '@millrace/contracts/numbers';
import { text } from './words.ts';

/**
 * A histogram. Each bin has its start in seconds and its number of persons. The last bin marks the end of the bin
 * before it.
 */
interface Times {
  bins: readonly [seconds: number, count: number][];
  average: number | null;
}

export function readTimes({ bins, average_conversion_time: average }: Record<string, unknown>): Times | null {
  if (!Array.isArray(bins)) return null;
  return {
    bins: bins.map((bin) => [Number(bin?.[0]), Number(bin?.[1])]),
    average: typeof average === 'number' ? average : null,
  };
}

export function TimesToConvert({ times: { bins, average } }: { times: Times }) {
  const total = bins.reduce((sum, [, count]) => sum + count, 0);
  const shown = bins.slice(0, -1).map(([from, count], at) => {
    // The API returns conversions that took exactly the maximum time in a separate bin, so add them to the bin before
    // it.
    const isLast = at === bins.length - 2;
    return { from, to: bins[at + 1]?.[0] ?? from, count: count + (isLast ? (bins.at(-1)?.[1] ?? 0) : 0) };
  });
  if (total === 0) return <p className="insight-figure funnel-figure quiet">{text.noConversions}</p>;
  const most = Math.max(...shown.map(({ count }) => count));
  const rangeOf = (from: number, to: number) => text.fromTo(formatDuration(from), formatDuration(to));
  return (
    <>
      <p className="insight-figure funnel-figure">
        <strong className="tile-figure ink">{average === null ? '–' : formatDuration(average)}</strong>
        <span className="quiet">
          {text.averageTime} · {text.medianOf(formatDuration(medianOf(shown, total)))}
        </span>
      </p>
      <ol className="funnel-bars times-bars" aria-hidden="true">
        {shown.map(({ from, to, count }) => (
          <li key={from} title={`${rangeOf(from, to)}: ${formatValue(count)}`}>
            <div className="funnel-columns">
              <span className="funnel-column series-1">
                {count > 0 && <span className="funnel-now" style={{ blockSize: `${(count / most) * 100}%` }} />}
              </span>
            </div>
          </li>
        ))}
      </ol>
      <p className="times-axis hint" aria-hidden="true">
        <span>{formatDuration(shown[0]?.from ?? 0)}</span>
        <span>{formatDuration(shown.at(-1)?.to ?? 0)}</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <div className="insight-table insight-scroll" tabIndex={0}>
        <table className="table" aria-label={text.result}>
          <thead>
            <tr>
              <th>{text.time}</th>
              <th className="number">{text.persons}</th>
              <th className="number">{text.share}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ from, to, count }) => (
              <tr key={from}>
                <td>{rangeOf(from, to)}</td>
                <td className="number">{formatValue(count)}</td>
                <td className="number">{formatPercent((count / total) * 100)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Estimates the median, assuming that persons are distributed evenly within each bin. */
function medianOf(bins: readonly { from: number; to: number; count: number }[], total: number): number {
  let before = 0;
  for (const { from, to, count } of bins) {
    if (before + count >= total / 2) return from + ((total / 2 - before) / count) * (to - from);
    before += count;
  }
  return 0;
}
