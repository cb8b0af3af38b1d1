import type { Sql } from '@millrace/db';
import { decodeCursor, keysetPage, keysetPageOf, keysetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { endOfPage } from '../../sql/end-of-page.ts';
import type { PageShares } from '../../sql/page-shares.ts';
import { timePosition, toTimePosition } from '../../time/time-position.ts';
import { timeRangeQuery, toTimeRange } from '../../time/time-range.ts';
import { parsePropertyFilters } from '../property-filters/parse-property-filters.ts';
import { propertiesQuery } from '../property-filters/properties-query.ts';
import { refuseBadPattern } from '../property-filters/refuse-bad-pattern.ts';
import { event, eventExample } from './event-schema.ts';
import { findEvents } from './find-events.ts';
import { withCurrentPersons } from './with-current-persons.ts';

const owners = ['event', 'person'] as const;

/** As the reference's clients send it, a JSON array of one word; the word alone is understood as well. */
const orders = ['["-timestamp"]', '["timestamp"]', '-timestamp', 'timestamp'];

export function eventRoutes({ sql, pageShares }: { sql: Sql; pageShares: PageShares }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/events',
      operationId: 'events_list',
      summary: 'List events',
      description:
        'The events of a project, the newest first unless `orderBy` says otherwise. Several filters narrow each other. A page of very large events is shorter than `limit`: `next` tells whether there is more. Events stored while you page do not shift the pages.',
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
        properties: propertiesQuery(owners),
        orderBy: Type.Enum(orders, {
          default: '["-timestamp"]',
          description: 'The newest first (`["-timestamp"]`) or the oldest first (`["timestamp"]`).',
        }),
      }),
      responses: { 200: { description: 'One page of events.', schema: keysetPageOf(event) } },
      examples: { response: { next: null, results: [eventExample] } },
      target: addressedProject(sql),
      handler: ({ target, query, request }) =>
        pageShares.run(async (maxBytes) => {
          const projectId = target.environmentId;
          const { properties, orderBy, limit, after, before, cursor, ...exact } = query;
          const filter = {
            ...exact,
            ...toTimeRange({ after, before }),
            properties: parsePropertyFilters(properties, owners),
          };
          const from = toTimePosition(decodeCursor(timePosition, cursor));
          const window = { from, limit, maxBytes, isOldestFirst: !orderBy.includes('-') };
          const rows = await refuseBadPattern(() => findEvents(sql, projectId, filter, window));
          const events = await withCurrentPersons(sql, projectId, rows);
          const end = endOfPage(rows, (row) => ({ timestamp: row.timestamp.getTime(), id: row.uuid }));
          return keysetPage(request, end, events);
        }),
    }),
  ];
}
