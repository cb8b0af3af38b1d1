import { createTestTenant } from '@millrace/testing';
import { sendV1, v1Batch, v1Event } from './testing/send-v1.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from './testing/test-gateway.ts';
import { readTopics, type TopicReader } from './testing/topic-reader.ts';

/**
 * Tests that the gateway marks cookieless events, because the consumer derives their distinct ID from the IP address.
 */
let fixture: GatewayFixture;
let gateway: TestGateway;
let reader: TopicReader;

beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
  reader = await readTopics(fixture.log, [fixture.topics.live]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});

const id = '$posthog_cookieless';
const forwarded = { 'x-forwarded-for': '203.0.113.7' };

test.each<[string, (token: string) => Promise<number>]>([
  [
    'by a property',
    async (token) => {
      const event = { event: 'a', distinct_id: id, properties: { $cookieless_mode: true } };
      const body = JSON.stringify({ api_key: token, batch: [event] });
      return (await fetch(`${gateway.url}/batch/`, { method: 'POST', body, headers: forwarded })).status;
    },
  ],
  [
    'by an option of Capture v1',
    async (token) => {
      const body = v1Batch(v1Event({ distinct_id: id, options: { cookieless_mode: true } }));
      return (await sendV1(gateway, token, { body, headers: forwarded })).status;
    },
  ],
])('marks events as cookieless %s, with the IP address even if the project does not store it', async (_how, send) => {
  const { token } = await createTestTenant(fixture.database, { anonymizeIps: true });
  expect(await send(token)).toBe(200);
  const [record] = await reader.records(token, 1);
  expect(record?.value).toMatchObject({ cookieless_mode: true, ip: '203.0.113.7', distinct_id: id });
  expect(record?.key).toBe(`${token}:203.0.113.7`);
});

test('does not mark an event as cookieless unless the event requests it', async () => {
  const { token } = await createTestTenant(fixture.database);
  const event = { event: 'a', distinct_id: 'd', cookieless_mode: true, properties: { $cookieless_mode: false } };
  const body = JSON.stringify({ api_key: token, batch: [event] });
  expect((await fetch(`${gateway.url}/batch/`, { method: 'POST', body })).status).toBe(200);
  expect((await reader.events(token, 1))[0]).not.toHaveProperty('cookieless_mode');
});
