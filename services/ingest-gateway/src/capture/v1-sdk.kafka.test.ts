import { createTestTenant } from '@millrace/testing';
import { PostHog } from 'posthog-node';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { measured } from '../testing/traffic-probe.ts';

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

/** Runs the Node SDK in Capture v1 mode, which the SDK reads from its environment when it is created. */
async function withClient(token: string, use: (client: PostHog) => void): Promise<unknown[]> {
  // biome-ignore lint/style/noProcessEnv: it is the SDK's setting, not ours, and the only way to ask it for v1
  const env = process.env;
  env.POSTHOG_CAPTURE_MODE = 'v1';
  const client = new PostHog(token, { host: gateway.url, fetchRetryCount: 0 });
  delete env.POSTHOG_CAPTURE_MODE;
  const errors: unknown[] = [];
  client.on('error', (error: unknown) => errors.push(error));
  use(client);
  await client.shutdown();
  return errors;
}
const requests = (status: string) =>
  measured(gateway, 'capture_requests_total', { path: '/i/v1/analytics/events', status });

test('stores everything that the Node SDK sends in its v1 mode', async () => {
  const { token } = await createTestTenant(fixture.database);
  const errors = await withClient(token, (client) => {
    client.capture({ distinctId: 'user-1', event: 'first', properties: { a: 1 }, groups: { company: 'acme' } });
    client.identify({ distinctId: 'user-1', properties: { plan: 'full' } });
    client.alias({ distinctId: 'user-1', alias: 'alias-1' });
    client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { size: 5 } });
    const properties = { $process_person_profile: false, $session_id: 's1' };
    client.capture({ distinctId: 'user-1', event: 'last', properties });
  });
  expect(errors).toEqual([]);
  expect(await requests('200')).toBeGreaterThan(0);
  const events = await reader.events(token, 5);
  const named = (name: string) => events.find(({ event }) => event === name);
  expect(named('first')?.properties).toMatchObject({
    a: 1,
    $groups: { company: 'acme' },
    $lib: 'posthog-node',
    $lib_version: expect.stringMatching(/^\d+\./),
  });
  expect(named('$identify')?.properties).toMatchObject({ $set: { plan: 'full' } });
  expect(named('$create_alias')?.properties).toMatchObject({ alias: 'alias-1' });
  expect(named('$groupidentify')?.properties).toMatchObject({ $group_key: 'acme', $group_set: { size: 5 } });
  expect(named('last')?.properties).toMatchObject({ $process_person_profile: false, $session_id: 's1' });
});

test('the SDK reports which event was dropped', async () => {
  const { token } = await createTestTenant(fixture.database);
  const [error, ...more] = await withClient(token, (client) => {
    client.capture({ distinctId: 'user-1', event: 'x'.repeat(300) });
    client.capture({ distinctId: 'user-1', event: 'kept' });
  });
  expect(more).toEqual([]);
  expect(error).toMatchObject({ drops: [{ details: 'event_name_too_long' }], retryExhausted: [] });
  expect(await reader.events(token, 1)).toMatchObject([{ event: 'kept' }]);
});

test('the SDK reports that its API key is wrong', async () => {
  expect(await withClient('phc_nobody', (client) => client.capture({ distinctId: 'u', event: 'lost' }))).toHaveLength(
    1,
  );
  expect(await requests('401')).toBe(1);
});
