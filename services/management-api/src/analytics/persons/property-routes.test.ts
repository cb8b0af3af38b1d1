import { createTestTenant, startServer, type TestServer, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { storePerson } from '../../testing/stored-data.ts';

/** These tests check which events the API sends to the gateway. The consumer tests cover how events change persons. */
let gateway: TestServer;
let received: Record<string, unknown>[] = [];
let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  gateway = await startServer(async (request, response) => {
    received.push(JSON.parse((await request.setEncoding('utf8').toArray()).join('')));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"Ok"}');
  });
  api = await startTestApi({ ingestUrl: gateway.url });
  tenant = await createTestTenant(api.database);
  const uuid = await storePerson(api.database.sql, tenant.projectId, { distinctIds: ['ada', 'ada-2'] });
  path = `/api/projects/${tenant.projectId}/persons/${uuid}/`;
});
beforeEach(() => {
  received = [];
});
afterAll(async () => {
  await api.stop();
  await gateway.stop();
});

const send = (action: string, body: unknown, at = path) =>
  api.send('POST', `${at}${action}/`, { key: tenant.personalApiKey, body });

test('sends an event that sets a property of a person', async () => {
  expect((await send('update_property', { key: 'plan', value: { seats: [1, null] } })).status).toBe(202);
  expect(received).toMatchObject([
    {
      api_key: tenant.projectApiKey,
      event: '$set',
      distinct_id: 'ada',
      properties: { $set: { plan: { seats: [1, null] } }, $process_person_profile: true },
    },
  ]);
});

test('sends an event that removes a property of a person', async () => {
  const { status, body } = await send('delete_property', { $unset: 'plan' });
  expect([status, body]).toEqual([201, { success: true }]);
  expect(received).toMatchObject([{ event: '$set', distinct_id: 'ada', properties: { $unset: ['plan'] } }]);
});

test.each([
  ['update_property', { value: 1 }, 'key'],
  ['update_property', { key: 'plan' }, 'value'],
  ['update_property', { key: '', value: 1 }, 'key'],
  ['delete_property', {}, '$unset'],
])('returns 400 when a person is changed by %s with %j', async (action, body, attr) => {
  const response = await send(action, body);
  expect([response.status, response.body.attr, received]).toEqual([400, attr, []]);
});

test('returns 404 for changing the properties of a person who does not exist', async () => {
  const at = `/api/projects/${tenant.projectId}/persons/unknown/`;
  expect([(await send('delete_property', { $unset: 'plan' }, at)).status, received]).toEqual([404, []]);
});
