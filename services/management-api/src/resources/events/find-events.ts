import type { Sql } from '@millrace/db';
import type { Paged } from '../../sql/page-within-bytes.ts';
import { hasDistinctIds } from './event-person-store.ts';
import {
  type EventFilter,
  type EventRow,
  type EventWindow,
  listEvents,
  listEventsByDistinctId,
} from './event-store.ts';

/**
 * The events a filter asks for, by the cheapest way there. `person_id` means the person of today: every event of every
 * distinct id that belongs to it now, those stored before a merge included.
 */
export async function findEvents(
  sql: Sql,
  projectId: number,
  filter: EventFilter,
  window: EventWindow,
): Promise<Paged<EventRow>[]> {
  const isByDistinctId =
    filter.person_id === undefined
      ? filter.distinct_id !== undefined
      : await hasDistinctIds(sql, projectId, filter.person_id);
  return isByDistinctId
    ? listEventsByDistinctId(sql, projectId, filter, window)
    : listEvents(sql, projectId, filter, window);
}
