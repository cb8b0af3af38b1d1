import { createTestTenant, setTestPlan } from '@millrace/testing';
import { sendV1, v1Batch, v1Event } from '../testing/send-v1.ts';
import { createGatewayFixture, type GatewayFixture } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { createTestClock, measured } from '../testing/traffic-probe.ts';

let fixture: GatewayFixture;
let reader: TopicReader;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  reader = await readTopics(fixture.log, [fixture.topics.live]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});

test('returns 200 over the quota, marks all events as limited, stores none, and counts them', async () => {
  const { token, organizationId } = await createTestTenant(fixture.database);
  await setTestPlan(fixture.database, organizationId, 'full', { eventsPerMonth: 1 });
  const gateway = await fixture.startGateway({ config: { limitFlushMs: 10 } });
  const [stored, late, nameless] = [v1Event(), v1Event(), v1Event({ event: '' })];
  expect((await sendV1(gateway, token, { body: v1Batch(stored) })).json.results[stored.uuid]).toEqual({ result: 'ok' });
  const response = await sendV1(gateway, token, { body: v1Batch(late, nameless) });
  expect([response.status, response.json]).toEqual([
    200,
    {
      results: {
        [late.uuid]: { result: 'limited', details: 'billing_limit_exceeded' },
        [nameless.uuid]: { result: 'drop', details: 'missing_event_name' },
      },
    },
  ]);
  expect(await measured(gateway, 'capture_events_dropped_total', { cause: 'quota_limited' })).toBe(2);
  expect((await reader.events(token, 1)).map(({ uuid }) => uuid)).toEqual([stored.uuid]);
});

// On this path, unlike on the others, the SDKs for Python, Go and Rust lose events after a 429 response
// (docs/wire-rules.md#capture-v1).
test.each(['posthog-node/5.1.0', 'posthog-python/7.1.0'])(
  'returns 503 to %s if it sends faster than the plan allows',
  async (agent) => {
    const { token, organizationId } = await createTestTenant(fixture.database);
    await setTestPlan(fixture.database, organizationId, 'full', { eventsPerSecond: 1 });
    const clock = createTestClock();
    const gateway = await fixture.startGateway({ now: clock.now, config: { limitFlushMs: 10 } });
    clock.advance(3500);
    const headers = { 'user-agent': agent, origin: null };
    const many = Array.from({ length: 10 }, () => v1Event());
    expect((await sendV1(gateway, token, { headers, body: v1Batch(...many) })).status).toBe(200);
    const response = await sendV1(gateway, token, { headers, body: v1Batch(v1Event()) });
    expect([response.status, response.json.error, response.headers.get('retry-after')]).toEqual([
      503,
      'rate_limited',
      '7',
    ]);
  },
);

test("drops an event on the operator's drop list, and stores the other events", async () => {
  const { token } = await createTestTenant(fixture.database);
  const gateway = await fixture.startGateway({ config: { dropEventsByTokenDistinctId: `${token}:unwanted` } });
  const nameless = v1Event({ event: '' });
  const [unwanted, wanted] = [v1Event({ distinct_id: 'unwanted' }), v1Event()];
  const { json } = await sendV1(gateway, token, { body: v1Batch(nameless, unwanted, wanted) });
  expect(json.results).toEqual({
    [nameless.uuid]: { result: 'drop', details: 'missing_event_name' },
    [unwanted.uuid]: { result: 'drop', details: 'blocked_token' },
    [wanted.uuid]: { result: 'ok' },
  });
  expect((await reader.events(token, 1)).map(({ uuid }) => uuid)).toEqual([wanted.uuid]);
});
