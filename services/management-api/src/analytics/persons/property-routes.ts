// Declares the routes that set or delete single properties of a person. The event consumer stores person properties, so
// the API sends each change as an event, as an SDK would do.

import { eventNames } from '@millrace/contracts';
import { findPerson } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { type GatewayDeps, sendEvent } from '../send-event/send-event.ts';
import { personParams } from './routes.ts';
import { readPerson } from './store.ts';

const name = Type.String({ minLength: 1, maxLength: 400, description: 'Name of the property.' });

const howItIsDone =
  'Sends a `$set` event for the person to the ingest gateway (`INGEST_URL`). The change takes effect when the ' +
  'event has been processed, usually within seconds.';

export function personPropertyRoutes(deps: GatewayDeps) {
  const { sql } = deps;
  const common = {
    method: 'POST',
    below: environmentBasePaths(sql),
    tags: ['persons'] as [string],
    scope: 'person:write',
    params: personParams,
  } as const;

  async function sendChange(environmentId: number, id: string, change: Record<string, unknown>): Promise<void> {
    const { uuid } = await findPerson(sql, environmentId, id);
    const person = await readPerson(sql, environmentId, uuid);
    if (person === undefined) throw new AppError('not_found', 'Not found.');
    await sendEvent(deps, environmentId, {
      event: eventNames.set,
      distinct_id: person.main_distinct_id,
      properties: { ...change, $process_person_profile: true },
    });
  }

  return [
    ...defineRoutes({
      ...common,
      path: '/persons/:id/update_property',
      operationId: 'persons_update_property_create',
      summary: 'Set a person property',
      description: howItIsDone,
      refusedQuery: { key: 'Send `key` in the body.', value: 'Send `value` in the body.' },
      body: Type.Object(
        { key: name, value: Type.Unknown({ description: 'New value of the property.' }) },
        { title: 'PersonProperty' },
      ),
      responses: { 202: { description: 'The gateway has accepted the change.' } },
      examples: { request: { key: 'plan', value: 'pro' } },
      handler: async ({ target: { environmentId }, params: { id }, body: { key, value } }) => {
        await sendChange(environmentId, id, { $set: { [key]: value } });
        return undefined;
      },
    }),
    ...defineRoutes({
      ...common,
      path: '/persons/:id/delete_property',
      operationId: 'persons_delete_property_create',
      summary: 'Delete a person property',
      description: howItIsDone,
      refusedQuery: { $unset: 'Send `$unset` in the body.' },
      body: Type.Object({ $unset: name }, { title: 'PersonPropertyToRemove' }),
      responses: {
        201: {
          description: 'The gateway has accepted the change.',
          schema: Type.Object({ success: Type.Boolean({ description: 'Always true.' }) }, { title: 'Success' }),
        },
      },
      examples: { request: { $unset: 'plan' }, response: { success: true } },
      handler: async ({ target: { environmentId }, params: { id }, body: { $unset } }) => {
        await sendChange(environmentId, id, { $unset: [$unset] });
        return { success: true };
      },
    }),
  ];
}
