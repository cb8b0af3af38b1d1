import { findPerson, type Sql } from '@millrace/db';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../activity/activity-page.ts';
import { personParams } from './person-params.ts';

/** What was done to persons: who deleted them, and how far that is. A deleted person is named by its uuid. */
export function personActivityRoutes({ sql }: { sql: Sql }) {
  const common = {
    method: 'GET',
    tags: ['persons'] as [string],
    scope: 'person:read',
    query: activityQuery,
    responses: { 200: { description: 'One page of records.', schema: activityPage } },
    examples: { response: activityExample },
    target: addressedProject(sql),
  } as const;
  const scopes = ['Person'];
  const description =
    'Deletions of persons, the latest first. The change of the field `deletion` says how far one is: `status` (`waiting`, `running`, `completed`), `delete_events`, and `events`, how many were deleted or stripped so far.';
  return [
    defineRoute({
      ...common,
      path: '/api/projects/:project_id/persons/activity',
      operationId: 'persons_activity',
      summary: 'Show who deleted persons',
      description,
      params: projectParams,
      handler: async ({ target: { environmentId }, query, request }) =>
        readActivity(sql, request, { ...query, scopes, environmentId }),
    }),
    defineRoute({
      ...common,
      path: '/api/projects/:project_id/persons/:id/activity',
      operationId: 'persons_activity_of_one',
      summary: 'Show who deleted a person',
      description: `${description} The person is named by its uuid.`,
      params: personParams,
      handler: async ({ target: { environmentId }, params, query, request }) => {
        const itemId = params.id.toLowerCase();
        const page = await readActivity(sql, request, { ...query, scopes, environmentId, itemId });
        // Who was deleted has a record; whoever has none has to be there.
        if (page.total_count === 0) await findPerson(sql, environmentId, params.id);
        return page;
      },
    }),
  ];
}
