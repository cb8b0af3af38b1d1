import type { Sql } from '@millrace/db';
import { decodeCursor, formatDateTime, keysetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Searches } from '../../access/searches.ts';
import { type LargePages, offsetSchemaOfLargeList, refuseOffsetAfterCursor } from '../../sql/large-page.ts';
import {
  decodeTimePosition,
  encodeTimePosition,
  type TimePosition,
  timePosition,
  toTimeRange,
} from '../../time/time-range.ts';
import { listDistinctIds } from '../distinct-ids/distinct-id-store.ts';
import { readListFilters } from '../property-filters/parse-property-filters.ts';
import { parseElements } from './elements.ts';
import { createEventPageReader, createEventRead, readStoredEvent, type TimeLimitedEventStore } from './reads.ts';
import { eventExample, eventFilterQuery, eventPage, owners, shownEvent, shownEventExample } from './schema.ts';
import { type EventFilter, type EventRow, listPersonsOfDistinctIds, readEvent, readEvents } from './store.ts';

/** Allowed values of `orderBy`. Existing clients send a JSON array with one element instead of a plain string. */
const orders = ['-timestamp', 'timestamp', '["-timestamp"]', '["timestamp"]'];

/** Maximum offset, as in PostHog. It is limited because the database must read all events before the offset. */
const maxSkipped = 50_000;

/** Returns the names of parameters that would make a search faster, to be listed in an error message. */
export function suggestFasterParameters({
  distinct_id,
  person_id,
  offset,
}: {
  distinct_id?: string;
  person_id?: string;
  offset?: number;
}): string {
  const isOfPerson = (distinct_id ?? person_id) !== undefined;
  const filters = isOfPerson
    ? 'a shorter range of `after` and `before`'
    : 'a shorter range of `after` and `before`, or `distinct_id`';
  return offset ? `\`next\` instead of \`offset\`, ${filters}` : filters;
}

export interface EventDeps {
  sql: Sql;
  searches: Searches;
  /** The event store, or null if events are in PostgreSQL. */
  externalEventStore: TimeLimitedEventStore | null;
}

export function eventRoutes({ sql, searches, externalEventStore, pages }: EventDeps & { pages: LargePages }) {
  return [
    ...defineRoutes({
      method: 'GET',
      below: environmentBasePaths(sql),
      path: '/events',
      operationId: 'events_list',
      summary: 'List events',
      description:
        'Returns the events of the project, newest first unless `orderBy` specifies another order. If you send several filters, ' +
        'only events that match all of them are returned. To read further pages, follow `next`, or use `offset`. Pages ' +
        'read with `next` are not affected by new events. Pages read with `offset` shift when new events are stored, so ' +
        'some events can be returned twice. If a search runs out of time, the page contains the events that were found ' +
        'so far, or none, and `next` continues the search.',
      tags: ['events'],
      scope: 'event:read',
      query: Type.Object({
        ...keysetQuery,
        offset: offsetSchemaOfLargeList(maxSkipped),
        ...eventFilterQuery,
        // Do not use an enum or quotes in the default. openapi-python-client does not support them.
        orderBy: Type.String({
          default: '-timestamp',
          description:
            'Sort order: `-timestamp` (newest first) or `timestamp` (oldest first). `["-timestamp"]` and `["timestamp"]` are accepted too.',
        }),
      }),
      refusedQuery: {
        select: '`select` is not supported: events are always returned with all of their fields. Leave it out.',
        where: '`where` is not supported. Use `properties` to filter events.',
        action_id:
          "`action_id` is not supported. Send the action's event name and property filters as `event` and `properties`.",
      },
      responses: { 200: { description: 'One page of events.', schema: eventPage } },
      examples: { response: { next: null, results: [eventExample] } },
      handler: async ({ caller, target, query, request }) => {
        const projectId = target.environmentId;
        const { properties, orderBy, limit, offset, after, before, cursor, ...exact } = query;
        if (!orders.includes(orderBy)) throw notAnOrder(orderBy);
        refuseOffsetAfterCursor(query);
        const filter = {
          ...exact,
          ...toTimeRange({ after, before }),
          properties: await readListFilters(sql, projectId, { text: properties, owners }),
        };
        const isOldestFirst = !orderBy.includes('-');
        const signal = request.disconnectSignal();
        const reading = (on: Sql) =>
          createEventRead(externalEventStore, { sql: on, projectId, signal, isRepeated: filter.properties === null });
        const page = createEventPageReader(reading(sql));
        const read = externalEventStore === null ? readEventsOf(sql, projectId) : page.read;
        return pages.page(request, {
          behind: decodeTimePosition(decodeCursor(timePosition, cursor)),
          limit,
          offset,
          findKeys(keys) {
            const window = { ...keys, isOldestFirst };
            const find = (on: Sql) => page.findKeys(reading(on), filter, window);
            // PostgreSQL reads the first page from an index. Any other store has to read more events, so the request
            // counts as a search.
            const isWalk = externalEventStore !== null || isSearch(filter) || keys.offset > 0;
            return isWalk ? searches.run({ caller, target }, suggestFasterParameters(query), find) : find(sql);
          },
          async read(keys, maxBytes) {
            const { rows, used } = await read(keys, maxBytes);
            return { rows: await withCurrentPersons(sql, projectId, rows), used };
          },
          toCursor: encodeTimePosition,
        });
      },
    }),
  ];
}

function notAnOrder(given: string): AppError {
  const detail = `"${given.slice(0, 100)}" is not a valid choice. Choose -timestamp or timestamp.`;
  return new AppError('invalid', detail, { code: 'invalid_choice', attr: 'orderBy' });
}

export function eventItemRoute({ sql, searches, externalEventStore }: EventDeps) {
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: '/events/:uuid',
    operationId: 'events_retrieve',
    summary: 'Show an event',
    description:
      'Returns the event with this UUID, including the current person and the times at which the event was received and stored.',
    tags: ['events'],
    scope: 'event:read',
    params: Type.Object({ uuid: Type.String({ description: 'UUID of the event.' }) }),
    responses: { 200: { description: 'The event.', schema: shownEvent } },
    examples: { response: shownEventExample },
    handler: async ({ caller, target, params: { uuid }, request }) => {
      const { environmentId } = target;
      const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uuid);
      const kept = isUuid ? await readEvent(sql, environmentId, uuid) : undefined;
      const readExternalEvent = () =>
        searches.run({ caller, target }, null, (on) =>
          readStoredEvent(
            createEventRead(externalEventStore, {
              sql: on,
              projectId: environmentId,
              signal: request.disconnectSignal(),
            }),
            uuid,
          ),
        );
      const row = kept ?? (isUuid && externalEventStore !== null ? await readExternalEvent() : undefined);
      if (row === undefined) throw new AppError('not_found', 'Not found.');
      const [shown] = await withCurrentPersons(sql, environmentId, [row]);
      if (shown === undefined) throw new AppError('not_found', 'Not found.');
      const { captured_at: capturedAt, created_at: createdAt, ...item } = shown;
      return { ...item, captured_at: formatDateTime(capturedAt), stored_at: formatDateTime(createdAt) };
    },
  });
}

/** Returns true if the database may have to read events that do not match the filter. */
function isSearch({ event, person_id, properties }: EventFilter): boolean {
  return (event ?? person_id) !== undefined || properties !== null;
}

const readEventsOf = (sql: Sql, projectId: number) => (keys: TimePosition[], maxBytes: number) =>
  readEvents(sql, projectId, { keys, maxBytes });

/**
 * Converts events to API responses, with the current persons of their distinct IDs. Runs only two queries for all
 * events.
 */
async function withCurrentPersons<Row extends EventRow>(sql: Sql, projectId: number, rows: Row[]) {
  const mapped = await listPersonsOfDistinctIds(sql, projectId, [...new Set(rows.map((row) => row.distinct_id))]);
  const persons = new Map(mapped.map((person) => [person.distinct_id, person]));
  const unique = new Map(mapped.map((person) => [person.uuid, person]));
  const distinctIds = await listDistinctIds(sql, projectId, [...unique.values()]);
  return rows.map((row) => {
    const person = persons.get(row.distinct_id);
    return {
      ...row,
      id: row.uuid,
      elements: parseElements(row.elements_chain),
      timestamp: formatDateTime(row.timestamp),
      person: person
        ? {
            uuid: person.uuid,
            distinct_ids: distinctIds.get(person.uuid) ?? [person.main_distinct_id],
            properties: person.properties,
          }
        : { uuid: row.person_id, distinct_ids: [row.distinct_id], properties: row.person_properties },
    };
  });
}
