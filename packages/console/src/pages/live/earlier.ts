// Loads events that were stored before the user opened the page.

import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { call, type Query } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import type { LiveMessage } from './messages.ts';
import type { StreamState } from './shared-stream.ts';
import { getMessageTime, type Row, sortNewestFirst } from './use-live.ts';

const most = 50;

interface Filters {
  event: readonly string[];
  without: readonly string[];
  person: string;
  properties: readonly string[];
}

/**
 * Loads the latest stored events that match the stream's filters. Reloads them when the stream opens, because events
 * may have been stored before the stream opened.
 */
export function useEarlierEvents({ event, without, person, properties }: Filters, stream: StreamState) {
  const { id } = useProject();
  const names = (operator: string, value: readonly string[]) =>
    value.length === 0 ? [] : [JSON.stringify({ key: 'event', type: 'event_metadata', operator, value })];
  const all = [...properties, ...names('exact', event), ...names('is_not', without)];
  const query: Query = {
    distinct_id: person,
    properties: all.length === 0 ? '' : `[${all.join(',')}]`,
    before: '-0s',
    limit: most,
  };
  const earlier = useQuery({
    queryKey: ['live', id, 'earlier', query],
    queryFn: async ({ signal }) => {
      const { results } = await call<{ results: EarlierEvent[] }>(
        { path: `/api/projects/${id}/events`, query },
        signal,
      );
      return results.map(rowOf);
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const { refetch } = earlier;
  const key = JSON.stringify(query);
  const opened = useRef('');
  useEffect(() => {
    if (stream.kind !== 'open' || opened.current === key) return;
    opened.current = key;
    void refetch();
  }, [stream.kind, key, refetch]);
  return earlier;
}

interface EarlierEvent extends Pick<LiveMessage, 'timestamp' | 'properties'> {
  uuid: string;
  event: string;
  distinct_id: string;
  person: { uuid: string };
}

function rowOf({ uuid, event, distinct_id, timestamp, properties, person }: EarlierEvent): Row {
  const message: LiveMessage = {
    uuid,
    event,
    distinct_id,
    timestamp,
    properties,
    person_id: person.uuid,
    outcome: 'stored',
  };
  return { key: `${uuid}-earlier`, message, at: 0, time: getMessageTime(message), isNew: false };
}

export function useMergedRows(streamed: readonly Row[], earlier: readonly Row[] | undefined): readonly Row[] {
  return useMemo(() => {
    const known = new Set(streamed.map(({ message }) => message.uuid));
    return sortNewestFirst([...streamed, ...(earlier ?? []).filter(({ message }) => !known.has(message.uuid))]);
  }, [streamed, earlier]);
}
