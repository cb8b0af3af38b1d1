// The Events page's state, which is stored in the URL, and the requests for the events and their counts.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call, readCursor } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { isUuid, matchingText, part, useUrlState } from '../../parts/address.ts';
import { isValidTime, parseTime, resolveZone, type Span, zones } from '../../parts/span.tsx';
import { useEventCounts } from './counts.tsx';
import { type Filters, parseProperties, setNameFilter } from './filters.tsx';
import type { ListedEvent } from './list.tsx';
import { findScannedFilters, shouldRetry } from './slow.tsx';

const address = {
  after: matchingText(isValidTime, '-24h'),
  before: matchingText(isValidTime),
  zone: part.oneOf(zones, 'project'),
  event: part.text(),
  search: part.text(),
  distinct_id: part.text(),
  person_id: matchingText(isUuid),
  properties: matchingText((value) => parseProperties(value) !== null),
  order: part.oneOf(['newest', 'oldest'], 'newest'),
  columns: part.list(),
  cursor: part.text(),
  open: matchingText(isUuid),
  tab: part.oneOf(['properties', 'person', 'raw'], 'properties'),
};

export function useEventsView() {
  const project = useProject();
  const { view, change, unknown } = useUrlState(address);
  const { after, before, event, search, distinct_id, person_id } = view;
  const span: Span = { after, before };
  const properties = parseProperties(view.properties) ?? [];
  const filters: Filters = { event, distinct_id, person_id, properties: setNameFilter(properties, search) };
  const counted = { ...filters, after, before: before || untilNow(after) };
  const request = {
    path: `/api/projects/${project.id}/events`,
    query: {
      ...counted,
      orderBy: view.order === 'oldest' ? 'timestamp' : undefined,
      cursor: view.cursor,
      limit: 100,
    },
  };
  const list = useQuery({
    queryKey: ['events', project.id, request.query],
    queryFn: ({ signal }) =>
      call<{ results: ListedEvent[]; next: string | null; searched_until?: string }>(request, signal),
    retry: shouldRetry,
    // Keep the current page visible and the focus in the list until the next page has loaded.
    placeholderData: keepPreviousData,
  });
  return {
    view,
    change,
    unknown,
    filters,
    span,
    properties,
    request,
    list,
    zone: resolveZone(view.zone, project.timezone),
    counts: useEventCounts(counted, span),
    scanned: findScannedFilters(filters, properties, search),
    future: useFuture(filters, before === '' && list.isSuccess),
    next: readCursor(list.data?.next ?? null),
    /** Changes a filter and returns to the first page. */
    narrow: (changed: Partial<Filters & Span>) => change({ ...changed, cursor: '' }),
    search: (part: string) => change({ search: part, cursor: '' }, { replace: true }),
  };
}

/**
 * Returns the current time as the end of a time range without an end. Without it, the list would contain events with
 * future times, which come from clients with wrong clocks, and would not match the counts.
 */
const untilNow = (after: string) => (parseTime(after).getTime() < Date.now() ? '-0s' : '');

export const futureSpan = (): Span => {
  const now = Date.now();
  return { after: new Date(now).toISOString(), before: new Date(now + 48 * 3_600_000).toISOString() };
};

function useFuture(filters: Filters, isEnabled: boolean): { count: number; error: unknown } {
  const { id } = useProject();
  const { data, error } = useQuery({
    queryKey: ['future events', id, filters],
    queryFn: ({ signal }) =>
      call<{ total: number }>(
        { path: `/api/projects/${id}/events/counts`, query: { ...filters, ...futureSpan() } },
        signal,
      ),
    enabled: isEnabled,
    retry: shouldRetry,
  });
  return isEnabled ? { count: data?.total ?? 0, error } : { count: 0, error: null };
}

export type EventsView = ReturnType<typeof useEventsView>;
