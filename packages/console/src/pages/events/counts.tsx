import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { barsOf } from '../../parts/chart.tsx';
import { lengthOf, type Span } from '../../parts/span.tsx';
import { explain } from '../../parts/states.tsx';
import { formatNumber } from '../../words.ts';
import { worthTrying } from './slow.tsx';
import { text } from './words.ts';

interface Counts {
  interval: Interval;
  total: number;
  results: { start: string; count: number }[];
}
type Interval = 'minute' | 'hour' | 'day';

/** Bars that can still be told apart. */
function intervalOf(span: Span): Interval {
  const hours = lengthOf(span) / 3_600_000;
  if (hours <= 3) return 'minute';
  return hours <= 24 * 7 ? 'hour' : 'day';
}

/** How many events the list has, over its time. A click on a bar shows only that time; the table does the same by keyboard. */
export function CountsBar({
  counts,
  span,
  zone,
  onSpan,
}: {
  counts: ReturnType<typeof useCounts>;
  span: Span;
  zone: string;
  onSpan: (span: Span) => void;
}) {
  if (counts.error) return <p className="counts-note quiet">{`${text.counts.unavailable} ${explain(counts.error)}`}</p>;
  if (!counts.data) return <div className="counts counts-waiting" />;
  const { results, total, interval } = counts.data;
  const show = (at: number) => {
    const next = results[at + 1]?.start;
    const start = Math.max(Date.parse(results[at]?.start ?? ''), 0);
    // Both ends of a span are exclusive.
    onSpan({ after: new Date(start - 1).toISOString(), before: next ? new Date(next).toISOString() : span.before });
  };
  const label = (iso: string) => labelOf(iso, zone, interval);
  const bars = barsOf(
    results.map(({ count }) => count),
    { width: 1000, height: 44 },
  );
  const room = 1000 / Math.max(1, results.length);
  return (
    <div className="counts">
      <svg
        width="100%"
        height="48"
        viewBox="0 0 1000 48"
        preserveAspectRatio="none"
        role="img"
        aria-label={text.counts.label(total, text.counts.units[interval])}
      >
        {results.map(({ start, count }, at) => {
          const bar = bars[at];
          return (
            // The table below does the same by keyboard.
            // biome-ignore lint/a11y/noStaticElementInteractions: pointing is a second way
            <g key={start} className="counts-bar" onClick={() => show(at)}>
              <title>{text.counts.bar(label(start), count)}</title>
              <rect x={at * room} y="0" width={room} height="48" className="counts-ground" />
              {bar && <rect {...bar} y={bar.y + 3} />}
            </g>
          );
        })}
        <line x1="0" x2="1000" y1="47.5" y2="47.5" className="counts-line" />
      </svg>
      <div className="counts-axis hint" aria-hidden="true">
        {[0, 0.5, 1].map((place) => {
          const one = results[Math.round(place * (results.length - 1))];
          return <span key={place}>{one && label(one.start)}</span>;
        })}
      </div>
      <details className="counts-table">
        <summary className="hint">{text.counts.table}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
        <div className="counts-scroll" tabIndex={0}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{text.counts.when}</th>
                <th scope="col" className="number">
                  {text.counts.count}
                </th>
              </tr>
            </thead>
            <tbody>
              {results.map(
                ({ start, count }, at) =>
                  count > 0 && (
                    <tr key={start}>
                      <td>
                        <button
                          type="button"
                          className="facts-value"
                          aria-label={text.counts.narrow(label(start))}
                          onClick={() => show(at)}
                        >
                          {label(start)}
                        </button>
                      </td>
                      <td className="number">{formatNumber(count)}</td>
                    </tr>
                  ),
              )}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  );
}

export function useCounts(query: Record<string, string>, span: Span) {
  const project = useProject();
  const request = {
    path: `/api/projects/${project.id}/events/counts`,
    query: { ...query, interval: intervalOf(span) },
  };
  return useQuery({
    queryKey: ['event counts', project.id, request.query],
    queryFn: ({ signal }) => call<Counts>(request, signal),
    retry: worthTrying,
  });
}

const labels: Record<Interval, Intl.DateTimeFormatOptions> = {
  minute: { hour: '2-digit', minute: '2-digit' },
  hour: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short', year: 'numeric' },
};

const labelOf = (iso: string, zone: string, interval: Interval) =>
  new Intl.DateTimeFormat('en-GB', { ...labels[interval], timeZone: zone }).format(new Date(iso));
