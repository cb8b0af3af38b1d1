import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call, cursorOf, type Query } from '../api/request.ts';
import { useProject } from '../frame/project.ts';
import { More } from '../parts/more.tsx';
import { Loaded } from '../parts/states.tsx';
import { formatTime } from '../parts/time.ts';
import { visible } from './json-text.ts';
import { text } from './words.ts';
import './event-detail.css';

interface StoredEvent {
  uuid: string;
  event: string;
  timestamp: string;
  properties: Record<string, unknown>;
}

/** Stored events that fit, the newest first; each opens on the page of events. @param empty instead of no event */
export function Timeline({ what, filter, empty }: { what: string; filter: Query; empty: ReactNode }) {
  const { id, timezone } = useProject();
  const query = useInfiniteQuery({
    queryKey: ['events', id, 'timeline', filter],
    queryFn: ({ pageParam, signal }) =>
      call<{ results: StoredEvent[]; next: string | null }>(
        { path: `/api/projects/${id}/events`, query: { ...filter, limit: 50, cursor: pageParam } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => cursorOf(next),
  });
  return (
    <Loaded query={query} what={what}>
      {({ pages }) => {
        const events = pages.flatMap(({ results }) => results);
        if (events.length === 0) return empty;
        return (
          <>
            <ol className="timeline">
              {events.map(({ uuid, event, timestamp, properties }) => (
                <li key={uuid}>
                  <time className="mono quiet" dateTime={timestamp}>
                    {formatTime(timestamp, timezone)}
                  </time>
                  <Link className="timeline-event" to={`/projects/${id}/events`} search={{ open: uuid } as never}>
                    {visible(event)}
                  </Link>
                  <span className="cut quiet">
                    {visible(String(properties.$current_url ?? properties.$screen_name ?? ''))}
                  </span>
                </li>
              ))}
            </ol>
            <More query={query} label={text.older} />
          </>
        );
      }}
    </Loaded>
  );
}
