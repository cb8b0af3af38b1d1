import type { Sql } from '@millrace/db';
import { decodeCursor, keysetPage, keysetPageOf, keysetQuery, rowsToFetch } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { timePlace, timeRangeQuery, toTimePlace } from '../time-place.ts';
import { countWithin } from './count-within.ts';
import { event, eventExample } from './event-schema.ts';
import { findEvents } from './find-events.ts';
import { withCurrentPersons } from './with-current-persons.ts';

/** A page ends here, or at its limit if that comes first; one event alone may be larger. */
const maxPageBytes = 16 * 1024 * 1024;

export function eventRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/events',
      operationId: 'events_list',
      summary: 'List events',
      description:
        'The events of a project, the newest first. Several filters narrow each other. A page of very large events is shorter than `limit`: `next` tells whether there is more. Events stored while you page do not shift the pages.',
      tags: ['events'],
      scope: 'event:read',
      params: projectParams,
      query: Type.Object({
        ...keysetQuery,
        event: Type.Optional(Type.String({ description: 'Only events of this name.' })),
        distinct_id: Type.Optional(Type.String({ description: 'Only events sent with this distinct id.' })),
        person_id: Type.Optional(
          Type.String({
            format: 'uuid',
            description: 'Only events of all distinct ids that belong to the person with this uuid now.',
          }),
        ),
        ...timeRangeQuery,
      }),
      responses: { 200: { description: 'One page of events.', schema: keysetPageOf(event) } },
      examples: { response: { next: null, results: [eventExample] } },
      target: addressedProject(sql),
      handler: async ({ target, query, request }) => {
        const projectId = target.environmentId;
        const from = toTimePlace(decodeCursor(timePlace, query.cursor));
        const window = { from, limit: rowsToFetch(query), maxBytes: maxPageBytes };
        const found = await findEvents(sql, projectId, query, window);
        const rows = found.slice(0, query.limit);
        const events = await withCurrentPersons(sql, projectId, rows);
        const shown = countWithin(events, maxPageBytes);
        const last = rows[shown - 1];
        const hasMore = last !== undefined && last.fetched > shown;
        const nextPlace = hasMore ? { timestamp: last.timestamp.getTime(), id: last.uuid } : null;
        return keysetPage(request, { nextPlace }, events.slice(0, shown));
      },
    }),
  ];
}
