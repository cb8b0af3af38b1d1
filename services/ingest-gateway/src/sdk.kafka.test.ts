import { createTestTenant } from '@millrace/testing';
import { PostHog } from 'posthog-node';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from './testing/test-gateway.ts';
import { readTopics, type TopicReader } from './testing/topic-reader.ts';
import { measured } from './testing/traffic-probe.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let reader: TopicReader;

beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
  reader = await readTopics(fixture.log, [fixture.topics.live, fixture.topics.historical]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});

/** Runs the SDK as users configure it, except for the host. */
async function withClient(token: string, options: object, use: (client: PostHog) => void): Promise<unknown[]> {
  const errors: unknown[] = [];
  const client = new PostHog(token, { host: gateway.url, ...options });
  client.on('error', (error: unknown) => errors.push(error));
  use(client);
  await client.shutdown();
  return errors;
}

test('stores everything that the Node SDK sends, in order', async () => {
  const { token } = await createTestTenant(fixture.database);
  const errors = await withClient(token, {}, (client) => {
    client.capture({ distinctId: 'user-1', event: 'first', properties: { a: 1 }, groups: { company: 'acme' } });
    client.identify({ distinctId: 'user-1', properties: { plan: 'full' } });
    client.alias({ distinctId: 'user-1', alias: 'alias-1' });
    client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { size: 5 } });
    client.capture({ distinctId: 'user-1', event: 'last' });
  });
  expect(errors).toEqual([]);
  const events = await reader.events(token, 5);
  expect(events.map(({ event }) => event).sort()).toEqual([
    '$create_alias',
    '$groupidentify',
    '$identify',
    'first',
    'last',
  ]);
  const ofUser = events.filter(({ distinct_id }) => distinct_id === 'user-1').map(({ event }) => event);
  expect(ofUser).toEqual(['first', '$identify', '$create_alias', 'last']);
  expect(events.find(({ event }) => event === 'first')).toMatchObject({
    properties: { a: 1, $groups: { company: 'acme' }, $lib: 'posthog-node' },
    sent_at: expect.any(String),
  });
});

test("stores the SDK's events about language models", async () => {
  const { token } = await createTestTenant(fixture.database);
  const errors = await withClient(token, {}, (client) => {
    const properties = { $ai_model: 'm-1', $ai_input: [{ role: 'user', content: 'x'.repeat(100_000) }] };
    client.captureAi({ distinctId: 'user-1', event: '$ai_generation', properties });
  });
  expect(errors).toEqual([]);
  expect(await reader.events(token, 1)).toMatchObject([
    { event: '$ai_generation', distinct_id: 'user-1', properties: { $ai_model: 'm-1', $ai_input: [{ role: 'user' }] } },
  ]);
  const requestCount = await measured(gateway, 'capture_requests_total', { path: '/i/v0/ai/batch', status: '200' });
  expect(requestCount).toBe(1);
});

test('writes a historical migration to the historical topic', async () => {
  const { token } = await createTestTenant(fixture.database);
  const timestamp = new Date('2020-01-02T03:04:05Z');
  const errors = await withClient(token, { historicalMigration: true }, (client) => {
    client.capture({ distinctId: 'user-1', event: 'old', timestamp });
  });
  expect(errors).toEqual([]);
  const [record] = await reader.records(token, 1);
  expect(record).toMatchObject({ topic: fixture.topics.historical, key: token });
  // Client and server share a clock here, so only the time in transit is corrected.
  const stored = record?.value.kind === 'event' ? Date.parse(record.value.timestamp) : 0;
  expect(Math.abs(stored - timestamp.getTime())).toBeLessThan(60_000);
});

test('the SDK emits an error and prints the status 401 if its API key is wrong', async () => {
  const printed: unknown[] = [];
  const { error: print } = console;
  console.error = (...words) => void printed.push(words);
  const errors = await withClient('phc_nobody', { fetchRetryCount: 0 }, (client) => {
    client.capture({ distinctId: 'user-1', event: 'lost' });
  }).finally(() => {
    console.error = print;
  });
  expect(errors).toHaveLength(1);
  expect(String(printed)).toContain('status=401');
});
