// A list of events grouped by session, for the pages of persons and groups.

import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { call, type Query, readCursor } from '../api/request.ts';
import { useProject } from '../frame/project.ts';
import { LoadMoreButton } from '../parts/more.tsx';
import { QueryContent } from '../parts/states.tsx';
import { formatTime } from '../parts/time.ts';
import { escapeInvisible } from './json-text.ts';
import { text } from './words.ts';
import './event-detail.css';

interface StoredEvent {
  uuid: string;
  event: string;
  timestamp: string;
  properties: Record<string, unknown>;
}

interface Session {
  /** The session ID, or null for events without one. */
  id: string | null;
  events: StoredEvent[];
}

/** Groups consecutive events of the same session and keeps their order. */
function sessionsOf(events: readonly StoredEvent[]): Session[] {
  const sessions: Session[] = [];
  for (const event of events) {
    const { $session_id: given } = event.properties;
    const id = typeof given === 'string' && given !== '' ? given : null;
    const last = sessions.at(-1);
    if (last !== undefined && last.id === id) last.events.push(event);
    else sessions.push({ id, events: [event] });
  }
  return sessions;
}

/** A session's heading with the start and duration, which are based on the events loaded so far. */
function SessionHead({ session: { events } }: { session: Session }) {
  const [latest, earliest] = [events[0], events.at(-1)].map((event) => Date.parse(event?.timestamp ?? ''));
  const minutes = Math.round(((latest ?? 0) - (earliest ?? 0)) / 60_000);
  return <li className="timeline-session">{text.session(minutes, events.length)}</li>;
}

/**
 * Shows the events that match a filter, newest first and grouped by session. Each event links to the Events page.
 * @param empty the content to show if no event matches
 */
export function EventTimeline({ what, filter, empty }: { what: string; filter: Query; empty: ReactNode }) {
  const { id, timezone } = useProject();
  const query = useInfiniteQuery({
    queryKey: ['events', id, 'timeline', filter],
    queryFn: ({ pageParam, signal }) =>
      call<{ results: StoredEvent[]; next: string | null }>(
        { path: `/api/projects/${id}/events`, query: { ...filter, limit: 50, cursor: pageParam } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => readCursor(next),
  });
  return (
    <QueryContent query={query} what={what}>
      {({ pages }) => {
        const events = pages.flatMap(({ results }) => results);
        // After a search has exceeded its time limit, a page can be empty although more pages follow.
        if (events.length === 0 && !query.hasNextPage) return empty;
        return (
          <>
            <ol className="timeline">
              {sessionsOf(events).map((session) => (
                <Fragment key={session.events[0]?.uuid}>
                  {session.id !== null && <SessionHead session={session} />}
                  {session.events.map(({ uuid, event, timestamp, properties }) => (
                    <li key={uuid} {...(session.id !== null && { className: 'timeline-in-session' })}>
                      <time className="mono quiet" dateTime={timestamp}>
                        {formatTime(timestamp, timezone)}
                      </time>
                      <Link className="timeline-event" to={`/projects/${id}/events`} search={{ open: uuid } as never}>
                        {escapeInvisible(event)}
                      </Link>
                      <span className="cut quiet">
                        {escapeInvisible(String(properties.$current_url ?? properties.$screen_name ?? ''))}
                      </span>
                    </li>
                  ))}
                </Fragment>
              ))}
            </ol>
            <LoadMoreButton query={query} label={text.older} />
          </>
        );
      }}
    </QueryContent>
  );
}
