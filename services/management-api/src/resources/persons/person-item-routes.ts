import { findPerson, type Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { addressedProject } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { listDistinctIds } from '../distinct-ids/distinct-id-store.ts';
import { person, personExample } from '../shown-persons/person-schema.ts';
import { toPerson } from '../shown-persons/to-person.ts';
import { personParams } from './person-params.ts';
import { readPerson } from './person-store.ts';

/** One person. */
export function personItemRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/persons/:id',
      operationId: 'persons_retrieve',
      summary: 'Show a person',
      description: 'One person as it is now, by its uuid, its number or any of its distinct ids.',
      tags: ['persons'],
      scope: 'person:read',
      params: personParams,
      responses: { 200: { description: 'The person.', schema: person } },
      examples: { response: personExample },
      target: addressedProject(sql),
      handler: async ({ target: { environmentId }, params }) => {
        const { uuid } = await findPerson(sql, environmentId, params.id);
        const row = await readPerson(sql, environmentId, uuid);
        if (row === undefined) throw new AppError('not_found', 'Not found.');
        return toPerson(row, (await listDistinctIds(sql, environmentId, [row])).get(uuid));
      },
    }),
  ];
}
