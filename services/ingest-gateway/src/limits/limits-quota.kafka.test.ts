import { createRedisStore } from '@millrace/runtime/cache';
import { createTestTenant, eventually, setTestPlan, type TestTenant, testServers } from '@millrace/testing';
import { quietLogger } from '../testing/quiet-logger.ts';
import { startServerProxy, throughProxy } from '../testing/server-proxy.ts';
import {
  createGatewayFixture,
  type GatewayFixture,
  type GatewayOptions,
  type TestGateway,
} from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { createTestClock, measured, sendBatch, type TestClock, times } from '../testing/traffic-probe.ts';

let fixture: GatewayFixture;
let reader: TopicReader;
let clock: TestClock;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  reader = await readTopics(fixture.log, [fixture.topics.live, fixture.topics.historical]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});
beforeEach(() => {
  clock = createTestClock();
});

const start = (parts: GatewayOptions = {}) =>
  fixture.startGateway({
    now: clock.now,
    ...parts,
    config: { limitFlushMs: 10, trafficReportMs: 50, ...parts.config },
  });
async function limitedTenant(eventsPerMonth: number | null): Promise<TestTenant> {
  const tenant = await createTestTenant(fixture.database);
  await setTestPlan(fixture.database, tenant.organizationId, 'full', { eventsPerMonth });
  return tenant;
}
const dropped = (gateway: TestGateway) => measured(gateway, 'capture_events_dropped_total', { cause: 'quota_limited' });
const stored = { status: 200, text: '{"status":"Ok"}' };
const limited = { status: 200, text: '{"status":"Ok","quota_limited":["events"]}' };

describe('topic-015 a plan with a quota', () => {
  test('accepts events again in the month after the quota was used up', async () => {
    const { token } = await limitedTenant(2);
    const gateway = await start();
    expect(await sendBatch(gateway, token, times(2))).toMatchObject(stored);
    expect(await sendBatch(gateway, token, times(1))).toMatchObject(limited);
    clock.advance(31 * 24 * 3_600_000);
    expect(await sendBatch(gateway, token, times(1))).toMatchObject(stored);
  });

  test('returns 200 for events over the quota, drops and counts them, and reports them once', async () => {
    const { token } = await limitedTenant(3);
    const gateway = await start();
    expect(await sendBatch(gateway, token, times(2))).toMatchObject(stored);
    expect(await sendBatch(gateway, token, times(4))).toMatchObject(stored);
    for (let i = 0; i < 3; i++) expect(await sendBatch(gateway, token, times(2))).toMatchObject(limited);
    expect(await dropped(gateway)).toBe(6);
    const [warning] = await reader.warnings(token, 1);
    // A second gateway reports the same warning, and the consumer stores it once.
    const other = await start();
    await eventually(() => dropsOne(other, token), { what: 'The count of the first gateway' });
    await sendBatch(gateway, token, times(1));
    const warnings = await reader.warnings(token, 2);
    expect(warnings.map(({ uuid }) => uuid)).toEqual([warning?.uuid, warning?.uuid]);
    expect(warning).toMatchObject({
      type: 'quota_limited',
      count: expect.any(Number),
      details: { period: '2026-11', eventsPerMonth: 3 },
    });
    expect((await reader.events(token, 6)).length).toBeGreaterThanOrEqual(6);
  });

  test('without a quota, accepts all events and does not count them in the store', async () => {
    const { token } = await limitedTenant(null);
    const gateway = await start();
    for (let i = 0; i < 5; i++) expect(await sendBatch(gateway, token, times(10))).toMatchObject(stored);
    expect(await measured(gateway, 'limit_counters')).toBe(0);
    expect(await dropped(gateway)).toBe(0);
  });

  test('accepts no events with a quota of 0', async () => {
    const { token } = await limitedTenant(0);
    expect(await sendBatch(await start(), token, times(1))).toMatchObject(limited);
  });
});

// Unlike in PostHog, a plan has one limit for all events. `$exception` and similar events count too, so a mixed batch
// is dropped or stored as a whole.
test('topic-016 exception events have no separate quota', async () => {
  const { token } = await limitedTenant(1);
  const gateway = await start();
  const batch = ['$exception', 'a'].map((event) => ({ event, distinct_id: 'b' }));
  const send = async () => {
    const response = await fetch(`${gateway.url}/batch`, {
      method: 'POST',
      body: JSON.stringify({ api_key: token, batch }),
    });
    return { status: response.status, text: await response.text() };
  };
  expect(await send()).toEqual(stored);
  expect(await send()).toEqual(limited);
  expect((await reader.events(token, 2)).map(({ event }) => event).sort()).toEqual(['$exception', 'a']);
});

test('responds to a beacon over the quota with 200 and a body, not with 204', async () => {
  const { token } = await limitedTenant(0);
  const gateway = await start();
  expect(await sendBatch(gateway, token, times(1), { path: '/e/?beacon=1' })).toMatchObject(limited);
});

test('neither counts a historical migration towards the quota nor limits it', async () => {
  const { token } = await limitedTenant(2);
  const gateway = await start();
  for (let i = 0; i < 3; i++) {
    expect(await sendBatch(gateway, token, times(5), { isHistorical: true })).toMatchObject(stored);
  }
  expect(await sendBatch(gateway, token, times(2))).toMatchObject(stored);
  expect(await sendBatch(gateway, token, times(1))).toMatchObject(limited);
  expect(await sendBatch(gateway, token, times(1), { isHistorical: true })).toMatchObject(stored);
});

test('the quota count includes neither events without a name nor events that the log did not accept', async () => {
  const { token } = await limitedTenant(2);
  const gateway = await start();
  const nameless = JSON.stringify({ api_key: token, batch: Array(10).fill({ distinct_id: 'b' }) });
  expect((await fetch(`${gateway.url}/batch`, { method: 'POST', body: nameless })).status).toBe(200);
  const broken = await start({ log: { append: () => Promise.reject(new Error('gone')) } });
  expect((await sendBatch(broken, token, times(10))).status).toBeGreaterThanOrEqual(500);
  expect(await sendBatch(gateway, token, times(1))).toMatchObject(stored);
  expect(await sendBatch(broken, token, times(10))).not.toMatchObject(limited);
});

test('two gateways share the quota count, and other projects are not affected', async () => {
  // The limit is so high that no gateway can reach it without the other's count.
  const { token } = await limitedTenant(1000);
  const neighbour = await limitedTenant(1000);
  const [one, two] = [await start(), await start()];
  expect(await sendBatch(one, neighbour.token, times(1))).toMatchObject(stored);
  expect(await sendBatch(one, token, times(600))).toMatchObject(stored);
  expect(await sendBatch(two, token, times(600))).toMatchObject(stored);
  for (const gateway of [one, two]) {
    await eventually(() => dropsOne(gateway, token), { what: 'The count of the other gateway' });
    expect(await sendBatch(gateway, neighbour.token, times(1))).toMatchObject(stored);
  }
  const three = await start();
  await eventually(() => dropsOne(three, token), { what: 'The count in the store' });
});

async function dropsOne(gateway: TestGateway, token: string): Promise<boolean> {
  return (await sendBatch(gateway, token, times(1))).text === limited.text;
}

test('applies a higher quota without a restart, when the cached key expires', async () => {
  const tenant = await limitedTenant(1);
  const gateway = await start();
  await sendBatch(gateway, tenant.token, times(1));
  expect(await sendBatch(gateway, tenant.token, times(1))).toMatchObject(limited);
  await setTestPlan(fixture.database, tenant.organizationId, 'full', { eventsPerMonth: 100 });
  await eventually(
    async () => {
      await fixture.cache.publish('project-keys', tenant.token);
      return !(await dropsOne(gateway, tenant.token));
    },
    { what: 'The new limit' },
  );
});

describe('quota counts during a Redis failure', () => {
  const opened: { stop(): Promise<void> }[] = [];
  // Close the proxy after failed tests too, because it would keep the process running.
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.stop();
  });

  async function startBehindProxy() {
    const { redisUrl } = testServers();
    const proxy = await startServerProxy(redisUrl);
    const options = { keyPrefix: fixture.cachePrefix, commandTimeoutMs: 600 };
    const cache = createRedisStore(throughProxy(redisUrl, proxy), quietLogger(), options);
    const gateway = await start({ cache });
    opened.push(cache, proxy);
    return { proxy, gateway };
  }

  test.each(['refuse', 'blackHole'] as const)(
    'a gateway counts alone while Redis is down (%s), and adds its count to the store afterwards',
    async (fault) => {
      const { token } = await limitedTenant(10_000);
      const [{ proxy, gateway }, other] = [await startBehindProxy(), await start()];
      expect(await sendBatch(gateway, token, times(4000))).toMatchObject(stored);
      await proxy[fault]();
      expect(await sendBatch(gateway, token, times(4000))).toMatchObject(stored);
      expect(await sendBatch(other, token, times(4000))).toMatchObject(stored);
      // Each gateway knows only its own count, which is below the limit.
      expect(await sendBatch(gateway, token, times(1))).toMatchObject(stored);
      await proxy.pass();
      await eventually(() => dropsOne(other, token), {
        what: 'The counts of the time without Redis',
      });
      await eventually(() => dropsOne(gateway, token), { what: 'The counts of the other gateway' });
    },
  );

  test('drops events over the quota while Redis is down', async () => {
    const { token } = await limitedTenant(10);
    const { proxy, gateway } = await startBehindProxy();
    await proxy.refuse();
    expect(await sendBatch(gateway, token, times(10))).toMatchObject(stored);
    expect(await sendBatch(gateway, token, times(1))).toMatchObject(limited);
  });

  test('restores the quota count after Redis has lost its data', async () => {
    const { token, environmentId } = await limitedTenant(1000);
    const gateway = await start();
    expect(await sendBatch(gateway, token, times(999))).toMatchObject(stored);
    const key = `quota:${environmentId}:2026-11`;
    await eventually(async () => (await fixture.cache.get(key)) === '999', { what: 'The count in the store' });
    await fixture.cache.delete(key);
    expect(await sendBatch(gateway, token, times(1))).toMatchObject(stored);
    await eventually(async () => (await fixture.cache.get(key)) === '1000', { what: 'The restored count' });
    const fresh = await start();
    await eventually(() => dropsOne(fresh, token), { what: 'The count in a new gateway' });
  });
});
