import { createTestTenant, eventually, setTestPlan } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type GatewayOptions } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { createTestClock, measured, sendBatch, type TestClock, times } from '../testing/traffic-probe.ts';

let fixture: GatewayFixture;
let reader: TopicReader;
let clock: TestClock;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  reader = await readTopics(fixture.log, [fixture.topics.live]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});
beforeEach(() => {
  clock = createTestClock();
});

const start = (parts: GatewayOptions = {}) =>
  fixture.startGateway({ now: clock.now, config: { limitFlushMs: 10, trafficReportMs: 50 }, ...parts });
async function limitedToken(eventsPerSecond: number): Promise<string> {
  const { token, organizationId } = await createTestTenant(fixture.database);
  await setTestPlan(fixture.database, organizationId, 'full', { eventsPerSecond });
  return token;
}
const server = { headers: { 'user-agent': 'posthog-python/7.1.0' } };

test("rejects events beyond the plan's rate until the window ends", async () => {
  const token = await limitedToken(2);
  const neighbour = await limitedToken(2);
  const gateway = await start();
  clock.advance(3500);
  // A limit of 2 events per second allows 20 in a window of ten seconds.
  for (const count of [19, 1])
    expect(await sendBatch(gateway, token, times(count), server)).toMatchObject({ status: 200 });
  const refused = await sendBatch(gateway, token, times(5), server);
  expect(refused).toMatchObject({ status: 429, retryAfter: '7' });
  expect(JSON.parse(refused.text)).toMatchObject({ type: 'throttled_error', code: 'throttled' });
  expect(await sendBatch(gateway, neighbour, times(5), server)).toMatchObject({ status: 200 });
  expect(await measured(gateway, 'capture_events_rate_limited_total')).toBe(5);
  expect(await reader.warnings(token, 1)).toMatchObject([
    { type: 'rate_limited', count: 5, details: { eventsPerSecond: 2 } },
  ]);
  clock.advance(6500);
  expect(await sendBatch(gateway, token, times(5), server)).toMatchObject({ status: 200 });
});

test("accepts a batch that is larger than a window's limit, and rejects the next one", async () => {
  const token = await limitedToken(1);
  const gateway = await start();
  expect(await sendBatch(gateway, token, times(500), server)).toMatchObject({ status: 200 });
  expect(await sendBatch(gateway, token, times(1), server)).toMatchObject({ status: 429 });
});

// An SDK that drops events after a 4xx response must never get one (docs/wire-rules.md#how-sdks-react-to-responses,
// rule 12).
test.each([
  ['posthog-node', '/batch/', { 'user-agent': 'posthog-node/5.1.0' }, 429],
  ['posthog-python', '/batch/', { 'user-agent': 'posthog-python/6.0.0' }, 429],
  ['posthog-js', '/e/', { 'user-agent': 'Mozilla/5.0', origin: 'https://shop.example' }, 503],
  ['posthog-js as a beacon', '/e/?beacon=1', { 'user-agent': 'Mozilla/5.0', 'sec-fetch-mode': 'no-cors' }, 503],
  ['a page that names an SDK', '/batch/', { 'user-agent': 'posthog-node/5.1.0', origin: 'https://shop.example' }, 503],
  ['the legacy Java SDK', '/batch', { 'user-agent': 'posthog-java/1.1.0' }, 503],
  ['curl', '/capture/', { 'user-agent': 'curl/8.0' }, 503],
  ['an unnamed client', '/i/v0/e/', { 'user-agent': '' }, 503],
])('returns to %s the status after which it sends events again', async (_, path, headers, status) => {
  const token = await limitedToken(0);
  const gateway = await start();
  const response = await sendBatch(gateway, token, times(1), { path, headers });
  expect(response).toMatchObject({ status, retryAfter: '10' });
});

test('neither counts a historical migration towards the rate limit nor rejects it', async () => {
  const token = await limitedToken(1);
  const gateway = await start();
  for (let i = 0; i < 3; i++) {
    const migration = { ...server, isHistorical: true };
    expect(await sendBatch(gateway, token, times(50), migration)).toMatchObject({ status: 200 });
  }
  expect(await sendBatch(gateway, token, times(1), server)).toMatchObject({ status: 200 });
});

test('two gateways share the rate limit', async () => {
  const token = await limitedToken(100);
  const [one, two] = [await start(), await start()];
  expect(await sendBatch(one, token, times(600), server)).toMatchObject({ status: 200 });
  expect(await sendBatch(two, token, times(600), server)).toMatchObject({ status: 200 });
  await eventually(async () => (await sendBatch(two, token, times(1), server)).status === 429, {
    what: 'What the other gateway counted',
  });
});
