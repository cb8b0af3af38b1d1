import { createTestTenant, startServer, type TestServer, type TestTenant } from '@millrace/testing';
import { notFound } from '../../testing/expected-errors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { storeGroup } from '../../testing/stored-data.ts';

/** These tests check which events the API sends to the gateway. The consumer tests cover how events change groups. */
let gateway: TestServer;
let received: Record<string, unknown>[] = [];
let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  gateway = await startServer(async (request, response) => {
    received.push(JSON.parse((await request.setEncoding('utf8').toArray()).join('')));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"Ok"}');
  });
  api = await startTestApi({ ingestUrl: gateway.url });
  tenant = await createTestTenant(api.database);
  const properties = { name: 'Acme' };
  await storeGroup(api.database.sql, tenant.projectId, { type: 'company', index: 0, key: 'acme', properties });
});
beforeEach(() => {
  received = [];
});
afterAll(async () => {
  await api.stop();
  await gateway.stop();
});

const send = (action: string, body: unknown) =>
  api.send('POST', `/api/projects/${tenant.projectId}/groups/${action}`, { key: tenant.personalApiKey, body });

it('sends an event that creates a group without creating a person', async () => {
  const { status, body } = await send('', { group_type_index: 0, group_key: 'zeta', group_properties: { seats: 3 } });
  expect([status, body]).toEqual([
    201,
    {
      ...{ group_type: 'company', group_type_index: 0, group_key: 'zeta', group_properties: { seats: 3 } },
      created_at: expect.stringMatching(/Z$/),
    },
  ]);
  expect(received).toMatchObject([
    {
      api_key: tenant.projectApiKey,
      event: '$groupidentify',
      properties: {
        ...{ $group_type: 'company', $group_key: 'zeta', $group_set: { seats: 3 } },
        $process_person_profile: false,
      },
    },
  ]);
});

it('sends an event that sets a property of a group', async () => {
  const address = 'update_property/?group_type_index=0&group_key=acme';
  const { status, body } = await send(address, { key: 'seats', value: [1, null] });
  expect([status, body.group_properties]).toEqual([200, { name: 'Acme', seats: [1, null] }]);
  expect(received).toMatchObject([{ properties: { $group_key: 'acme', $group_set: { seats: [1, null] } } }]);
});

it.each([
  ['', { group_type_index: 0, group_key: 'acme' }, 'group_key'],
  ['', { group_type_index: 3, group_key: 'zeta' }, 'group_type_index'],
  ['', { group_type_index: 0 }, 'group_key'],
  ['', { group_type_index: 0, group_key: 'x'.repeat(401) }, 'group_key'],
  ['', { group_type_index: 0, group_key: 'zeta', group_properties: [] }, 'group_properties'],
  ['update_property/?group_type_index=0', { key: 'a', value: 1 }, 'group_key'],
  ['update_property/?group_type_index=0&group_key=acme', { value: 1 }, 'key'],
  ['update_property/?group_type_index=0&group_key=acme', { key: 'a' }, 'value'],
])('returns 400 for a group change at the path "%s" with %j, and sends no event', async (action, body, attr) => {
  const response = await send(action, body);
  expect([response.status, response.body.attr, received]).toEqual([400, attr, []]);
});

it('returns 404 for setting a property of a group that does not exist', async () => {
  const response = await send('update_property/?group_type_index=0&group_key=zeta', { key: 'a', value: 1 });
  expect([response, received]).toMatchObject([notFound('Not found.'), []]);
});
