import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { event, eventExample } from './event-schema.ts';
import { readEvent } from './read-event-store.ts';
import { withCurrentPersons } from './with-current-persons.ts';

/** One event. */
export function eventItemRoute({ sql }: { sql: Sql }) {
  return defineRoute({
    method: 'GET',
    path: '/api/projects/:project_id/events/:uuid',
    operationId: 'events_retrieve',
    summary: 'Show an event',
    description: 'One event by its uuid, with the person of today, as lists show it.',
    tags: ['events'],
    scope: 'event:read',
    params: Type.Object({ ...projectParams.properties, uuid: Type.String({ description: 'Id of the event.' }) }),
    responses: { 200: { description: 'The event.', schema: event } },
    examples: { response: eventExample },
    target: addressedProject(sql),
    handler: async ({ target: { environmentId }, params: { uuid } }) => {
      const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uuid);
      const row = isUuid ? await readEvent(sql, environmentId, uuid) : undefined;
      if (row === undefined) throw new AppError('not_found', 'Not found.');
      const [shown] = await withCurrentPersons(sql, environmentId, [row]);
      if (shown === undefined) throw new AppError('not_found', 'Not found.');
      return shown;
    },
  });
}
