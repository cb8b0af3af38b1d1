// Charts of received and dropped events for the Health page.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { groupIntoSpans } from '../../parts/chart.tsx';
import { CountsOverTime, chooseInterval, type Interval } from '../../parts/counts-over-time.tsx';
import { type Span, toTimeRange } from '../../parts/span.tsx';
import { QueryContent } from '../../parts/states.tsx';
import { formatNumber } from '../../words.ts';
import { text } from './words.ts';

interface Shown {
  span: Span;
  zone: string;
}

interface Counted {
  start: string;
  count: number;
}

export function EventsOverTime({ span, zone }: Shown) {
  const interval = chooseInterval(span);
  const query = useOverTime<{ total: number; results: Counted[] }>('events/counts', span, interval);
  return (
    <Chart title={text.events.title} hint={text.events.hint}>
      <QueryContent query={query} what={text.events.what}>
        {({ total, results }) => (
          <CountsOverTime {...{ results, interval, zone }} label={text.events.label(formatNumber(total))} />
        )}
      </QueryContent>
    </Chart>
  );
}

/** Number of bars in the chart of dropped events, regardless of the interval in the chart of received events. */
const spans = 60;

export function DropsOverTime({ span, zone }: Shown) {
  const { id } = useProject();
  const interval = chooseInterval(span) === 'minute' ? 'minute' : 'hour';
  const query = useOverTime<{ results: { outcome: string; count: number; counts: Counted[] }[] }>(
    'ingestion_warnings/counts',
    span,
    interval,
  );
  return (
    <Chart
      title={text.drops.title}
      hint={
        <>
          {text.drops.hint}{' '}
          <Link to={`/projects/${id}/warnings`} search={{ ...span } as never}>
            {text.drops.link}
          </Link>
        </>
      }
    >
      <QueryContent query={query} what={text.drops.what}>
        {({ results }) => {
          const dropped = results.filter(({ outcome }) => outcome === 'dropped');
          const total = dropped.reduce((sum, { count }) => sum + count, 0);
          const edges = { ...toTimeRange(span), spans };
          const values = groupIntoSpans(
            dropped.flatMap(({ counts }) => counts),
            edges,
          );
          const length = (edges.to - edges.from) / spans;
          return (
            <CountsOverTime
              results={values.map((count, at) => ({
                start: new Date(edges.from + at * length).toISOString(),
                count,
              }))}
              {...{ interval, zone, tone: 'bad', label: text.drops.label(formatNumber(total)) }}
            />
          );
        }}
      </QueryContent>
    </Chart>
  );
}

function useOverTime<Result>(path: string, span: Span, interval: Interval) {
  const { id } = useProject();
  const request = { path: `/api/projects/${id}/${path}`, query: { ...span, interval } };
  return useQuery({
    queryKey: ['health over time', id, path, request.query],
    queryFn: ({ signal }) => call<Result>(request, signal),
    refetchInterval: 30_000,
  });
}

function Chart({ title, hint, children }: { title: string; hint: ReactNode; children: ReactNode }) {
  return (
    <section className="panel health-chart" aria-label={title}>
      <h2>{title}</h2>
      <p className="hint">{hint}</p>
      {children}
    </section>
  );
}
