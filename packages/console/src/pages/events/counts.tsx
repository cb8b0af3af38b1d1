// The chart above the list of events, which shows the number of events over time.

import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { CountsOverTime, chooseInterval, type Interval } from '../../parts/counts-over-time.tsx';
import type { Span } from '../../parts/span.tsx';
import { explainError } from '../../parts/states.tsx';
import { shouldRetry } from './slow.tsx';
import { text } from './words.ts';

interface Counts {
  interval: Interval;
  total: number;
  results: { start: string; count: number }[];
}
/** Clicking a bar restricts the list to the bar's time range. Keyboard users can do the same in the table. */
export function CountsBar({
  counts,
  span,
  zone,
  onSpan,
}: {
  counts: ReturnType<typeof useEventCounts>;
  span: Span;
  zone: string;
  onSpan: (span: Span) => void;
}) {
  const problem = counts.error && (
    <p className="counts-note bad" role="alert">{`${text.counts.unavailable} ${explainError(counts.error)}`}</p>
  );
  if (!counts.data) return problem ?? <div className="counts counts-waiting" />;
  const { results, total, interval } = counts.data;
  const show = (at: number) => {
    const next = results[at + 1]?.start;
    const start = Math.max(Date.parse(results[at]?.start ?? ''), 0);
    // Both ends of the list's time range are exclusive, so start 1 ms earlier.
    onSpan({ after: new Date(start - 1).toISOString(), before: next ? new Date(next).toISOString() : span.before });
  };
  return (
    <>
      {problem}
      <CountsOverTime
        {...{ results, interval, zone, onShow: show }}
        label={text.counts.label(total, text.counts.units[interval])}
      />
    </>
  );
}

export function useEventCounts(query: Record<string, string>, span: Span) {
  const project = useProject();
  const request = {
    path: `/api/projects/${project.id}/events/counts`,
    query: { ...query, interval: chooseInterval(span) },
  };
  return useQuery({
    queryKey: ['event counts', project.id, request.query],
    queryFn: ({ signal }) => call<Counts>(request, signal),
    retry: shouldRetry,
  });
}
