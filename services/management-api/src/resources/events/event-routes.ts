import type { Sql } from '@millrace/db';
import { cutPage, decodeCursor, keysetPage, keysetPageOf, keysetQuery, rowsToFetch } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { timePlace, timeRangeQuery, toTimePlace } from '../time-place.ts';
import { event, eventExample } from './event-schema.ts';
import { findEvents } from './find-events.ts';
import { withCurrentPersons } from './with-current-persons.ts';

export function eventRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/events',
      operationId: 'events_list',
      summary: 'List events',
      description:
        'The events of a project, the newest first. Several filters narrow each other. Events stored while you page do not shift the pages.',
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
        const found = await findEvents(sql, projectId, query, { from, limit: rowsToFetch(query) });
        const page = cutPage(found, query, (row) => ({ timestamp: row.timestamp.getTime(), id: row.uuid }));
        return keysetPage(request, page, await withCurrentPersons(sql, projectId, page.rows));
      },
    }),
  ];
}
