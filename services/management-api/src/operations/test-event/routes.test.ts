import { createTestTenant, startServer, type TestServer, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/**
 * These tests send test events to a fake gateway. They check which request the API sends, and how it handles each
 * response. `packages/stack/src/start/start.long.test.ts` uses the real gateway.
 */
let gateway: TestServer;
let nextResponse: { status: number; body: string };
let received: { path: string | undefined; body: Record<string, unknown> }[] = [];
let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  gateway = await startServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('');
    received.push({ path: request.url, body: JSON.parse(body) });
    response.writeHead(nextResponse.status, { 'content-type': 'application/json' }).end(nextResponse.body);
  });
  api = await startTestApi({ ingestUrl: gateway.url });
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/test_event/`;
});
beforeEach(() => {
  nextResponse = { status: 200, body: '{"status":"Ok"}' };
  received = [];
});
afterAll(async () => {
  await api.stop();
  await gateway.stop();
});

const send = (body?: unknown) => api.send('POST', path, { key: tenant.personalApiKey, body });

test('sends a test event to the gateway with the project API key, and returns its UUID', async () => {
  const { status, body } = await send();
  expect([status, body]).toEqual([201, { uuid: body.uuid, event: 'test event', distinct_id: 'test-user' }]);
  expect(received).toEqual([
    {
      path: '/i/v0/e/',
      body: {
        api_key: tenant.projectApiKey,
        ...body,
        properties: { $lib: 'millrace', $geoip_disable: true, is_test: true },
      },
    },
  ]);
  const named = await send({ event: 'sign up', distinct_id: 'ü' });
  expect(named.body).toMatchObject({ event: 'sign up', distinct_id: 'ü' });
  expect(named.body.uuid).not.toBe(body.uuid);
});

test.each([
  [{ status: 200, body: '{"status":"Ok","quota_limited":["events"]}' }, 402, 'quota_limited'],
  [{ status: 401, body: '{}' }, 503, 'unavailable'],
  [{ status: 503, body: '{}' }, 503, 'unavailable'],
])('reports an error when the gateway rejects a test event: %j', async (given, status, code) => {
  nextResponse = given;
  expect(await send({})).toMatchObject({ status, body: { code } });
});

test('reports a missing gateway differently from a gateway that does not respond', async () => {
  const without = await startTestApi();
  const lonely = await startTestApi({ ingestUrl: 'http://127.0.0.1:9' });
  for (const [one, code] of [
    [without, 'no_gateway'],
    [lonely, 'unavailable'],
  ] as const) {
    const own = await createTestTenant(one.database);
    const asked = await one.send('POST', `/api/projects/${own.projectId}/test_event`, { key: own.personalApiKey });
    expect(asked).toMatchObject({ status: 503, body: { code } });
    await one.stop();
  }
});

test.each([
  [{ event: '' }, 'event'],
  [{ event: 'x'.repeat(201) }, 'event'],
  [{ event: {} }, 'event'],
  [{ event: 'a\0' }, 'event'],
  [{ distinct_id: null }, 'distinct_id'],
  [{ distinct_id: 'x'.repeat(201) }, 'distinct_id'],
])('returns 400 for a test event with %.60j without sending anything', async (body, attr) => {
  const refused = await send(body);
  expect([refused.status, refused.body.attr, received]).toEqual([400, attr, []]);
});
