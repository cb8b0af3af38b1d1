import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { type GatewayDeps, sendEvent } from '../../analytics/send-event/send-event.ts';

export function testEventRoutes(deps: GatewayDeps) {
  return defineRoutes({
    method: 'POST',
    below: environmentBasePaths(deps.sql),
    path: '/test_event',
    operationId: 'test_event_create',
    summary: 'Send a test event',
    description:
      'Sends an event with the project API key to the gateway at `INGEST_URL`, as an SDK would. The event counts toward the plan limits. After the event has been stored, you can retrieve it from `events/:uuid`.',
    tags: ['events'],
    scope: 'event:write',
    body: newTestEvent,
    responses: { 201: { description: 'The gateway accepted the event.', schema: sentEvent } },
    examples: { request: { event: 'test event', distinct_id: 'test-user' }, response: sentEventExample },
    handler: async ({ target: { environmentId }, body }) => {
      const sent = { event: body.event ?? 'test event', distinct_id: body.distinct_id ?? 'test-user' };
      const uuid = await sendEvent(deps, environmentId, { ...sent, properties: { is_test: true } });
      return { uuid, ...sent };
    },
  });
}

const newTestEvent = Type.Object(
  {
    event: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Name of the event. Defaults to `test event`.' }),
    ),
    distinct_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Distinct ID of the person. Defaults to `test-user`.' }),
    ),
  },
  { title: 'TestEventToCreate' },
);

const sentEvent = Type.Object(
  {
    uuid: Type.String({ format: 'uuid', description: 'UUID of the event.' }),
    event: Type.String({ description: 'Name of the event.' }),
    distinct_id: Type.String({ description: 'Distinct ID of the person.' }),
  },
  { title: 'TestEvent' },
);

const sentEventExample = {
  uuid: '0193f0c5-7a4e-4000-8000-000000000007',
  event: 'test event',
  distinct_id: 'test-user',
};
