import { createTestTenant, eventually } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type GatewayOptions } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { createTestClock, measured, sendBatch, type TestClock, times } from '../testing/traffic-probe.ts';

let fixture: GatewayFixture;
let reader: TopicReader;
let clock: TestClock;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  const { live, overflow, historical } = fixture.topics;
  reader = await readTopics(fixture.log, [live, overflow, historical]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});
beforeEach(() => {
  clock = createTestClock();
});

/** A distinct ID's third event in a window makes it hot. */
const smallBurst = { trafficWindowMs: 1000, overflowEventsPerSecond: 3, spikeMinEventsPerSecond: 1_000_000 };
const start = ({ config, ...parts }: GatewayOptions = {}) =>
  fixture.startGateway({
    now: clock.now,
    ...parts,
    config: { ...smallBurst, spikeWarmUpMs: 0, limitFlushMs: 10, trafficReportMs: 50, ...config },
  });
const newToken = async () => (await createTestTenant(fixture.database)).token;

/** Returns the topic and the key of each of a project's events as one string, ordered by event name. */
async function routes(token: string, count: number): Promise<string[]> {
  const { live, overflow } = fixture.topics;
  return (await reader.records(token, count))
    .flatMap(({ topic, key, value }) => (value.kind === 'event' ? [{ topic, key, value }] : []))
    .sort((a, b) => a.value.event.localeCompare(b.value.event))
    .map(({ topic, key }) => {
      const name = topic === live ? 'live' : topic === overflow ? 'overflow' : 'historical';
      return `${name} ${key === null ? 'no key' : key.replace(token, 'K')}`;
    });
}

// Unlike in PostHog, the record keeps its key, so that a person's events stay in order (docs/architecture.md#the-log).
// As in PostHog's consumer, all events of the request are sent to the overflow topic (docs/wire-rules.md#topics).
test('topic-006 E130 sends the third event of a key with a limit of two to the overflow topic, with its key', async () => {
  const token = await newToken();
  const gateway = await start();
  for (let i = 0; i < 2; i++) await sendBatch(gateway, token, ['a']);
  await sendBatch(gateway, token, ['a', 'b', 'a']);
  // Sorted by event name: e0 of the three requests, then e1 and e2.
  expect((await routes(token, 5)).sort()).toEqual(['live K:a', 'live K:a', 'live K:b', 'overflow K:a', 'overflow K:a']);
  expect(await measured(gateway, 'capture_events_rerouted_overflow_total', { reason: 'hot_key' })).toBe(2);
  expect(await measured(gateway, 'traffic_hot_keys')).toBe(1);
});

test('topic-007 sends all events to the live topic with their key if overflow is turned off', async () => {
  const token = await newToken();
  const gateway = await start({ config: { overflowEventsPerSecond: 0 } });
  await sendBatch(gateway, token, [...times(20, 'a'), ...times(20, 'b')]);
  const went = await routes(token, 40);
  expect(new Set(went)).toEqual(new Set(['live K:a', 'live K:b']));
});

test('topic-010 many historical events cause neither overflow nor a spike, and do not affect live events', async () => {
  const token = await newToken();
  const gateway = await start({ config: { spikeMinEventsPerSecond: 50 } });
  for (let i = 0; i < 3; i++) await sendBatch(gateway, token, times(100), { isHistorical: true });
  await sendBatch(gateway, token, times(2));
  const went = await routes(token, 302);
  expect(went.filter((route) => route === 'historical K')).toHaveLength(300);
  expect(went.filter((route) => route === 'live K:someone')).toHaveLength(2);
  expect(await measured(gateway, 'traffic_spikes_total')).toBe(0);
});

test('E132 a distinct ID that is hot with one API key is not hot with another', async () => {
  const [token, other] = [await newToken(), await newToken()];
  const gateway = await start();
  await sendBatch(gateway, token, times(5, 'same'));
  await sendBatch(gateway, other, times(2, 'same'));
  expect(new Set(await routes(token, 5))).toEqual(new Set(['overflow K:same']));
  expect(new Set(await routes(other, 2))).toEqual(new Set(['live K:same']));
});

// In PostHog, events in the overflow topic extend the hold. Here, the hold is extended while the key stays hot.
test("E134-135 sends a hot key's events to the overflow topic until the hold ends, and then to the live topic", async () => {
  const token = await newToken();
  const gateway = await start({ config: { overflowHoldMs: 3000 } });
  const send = async (count: number) => {
    const before = await measured(gateway, 'capture_events_rerouted_overflow_total');
    await sendBatch(gateway, token, times(count));
    return (await measured(gateway, 'capture_events_rerouted_overflow_total')) - before;
  };
  expect(await send(5)).toBe(5);
  clock.advance(2000);
  expect(await send(1)).toBe(1);
  clock.advance(500);
  expect(await send(3)).toBe(3);
  clock.advance(2500);
  expect(await send(1)).toBe(1);
  clock.advance(600);
  expect(await send(1)).toBe(0);
});

test('reports a hot distinct ID to its project, with the number of events', async () => {
  const token = await newToken();
  const gateway = await start();
  await sendBatch(gateway, token, times(7, 'hot one'));
  expect(await reader.warnings(token, 1)).toMatchObject([
    {
      type: 'traffic_spike',
      count: 3,
      details: {
        scope: 'distinct_id',
        distinctId: 'hot one',
        reroutedToOverflow: true,
        events: 3,
        windowSeconds: 1,
        thresholdEvents: 3,
      },
    },
  ]);
  expect(await measured(gateway, 'traffic_spikes_total', { scope: 'distinct_id' })).toBe(1);
});

describe('hot keys in two gateways', () => {
  test('two gateways add up their counts of a distinct ID, and both reroute its events', async () => {
    const token = await newToken();
    const config = { overflowEventsPerSecond: 1000 };
    const [one, two] = [await start({ config }), await start({ config })];
    await sendBatch(one, token, times(600));
    await sendBatch(two, token, times(600));
    for (const gateway of [one, two]) {
      await eventually(
        async () => {
          // Send at most 200 events in total, so that no gateway reaches the limit without the other's count.
          await sendBatch(gateway, token, times(1));
          return (await measured(gateway, 'capture_events_rerouted_overflow_total')) > 0;
        },
        { what: 'The overflow topic' },
      );
    }
  });

  test('gateways announce hot keys to each other, so that both send the next event to the same topic', async () => {
    const token = await newToken();
    const [one, two] = [await start(), await start()];
    await sendBatch(one, token, times(5));
    await eventually(async () => (await measured(two, 'traffic_hot_keys')) === 1, { what: 'The word of the other' });
    await sendBatch(two, token, ['someone']);
    expect(new Set(await routes(token, 6))).toEqual(new Set(['overflow K:someone']));
    // The third gateway starts after the announcement and receives it again in the next window.
    const three = await start();
    await eventually(
      async () => {
        clock.advance(1000);
        await sendBatch(one, token, ['another']);
        return (await measured(three, 'traffic_hot_keys')) === 1;
      },
      { what: 'The word for a new gateway' },
    );
  });
});

describe('traffic spikes of a project', () => {
  const projectSpikes = { overflowEventsPerSecond: 0, spikeMinEventsPerSecond: 20, spikeFactor: 5 };
  const distinct = (count: number) => Array.from({ length: count }, (_, index) => `visitor-${index}`);

  test("reports a sudden increase in a project's traffic once, and reroutes no events", async () => {
    const token = await newToken();
    const gateway = await start({ config: projectSpikes });
    for (let i = 0; i < 20; i++) {
      await sendBatch(gateway, token, distinct(10));
      clock.advance(1000);
    }
    await sendBatch(gateway, token, distinct(40));
    expect(await measured(gateway, 'traffic_spikes_total')).toBe(0);
    await sendBatch(gateway, token, distinct(20));
    await sendBatch(gateway, token, distinct(100));
    expect(await measured(gateway, 'traffic_spikes_total', { scope: 'project' })).toBe(1);
    expect(await measured(gateway, 'traffic_spiking_projects')).toBe(1);
    expect(await reader.warnings(token, 1)).toMatchObject([
      {
        type: 'traffic_spike',
        count: 60,
        details: { scope: 'project', events: 60, baselineEvents: 10, thresholdEvents: 50, windowSeconds: 1 },
      },
    ]);
    expect(await measured(gateway, 'capture_events_rerouted_overflow_total')).toBe(0);
    clock.advance(2000);
    expect(await measured(gateway, 'traffic_spiking_projects')).toBe(0);
  });

  test('constantly high traffic is not a spike', async () => {
    const token = await newToken();
    const gateway = await start({ config: { ...projectSpikes, spikeWarmUpMs: 5000 } });
    for (let i = 0; i < 12; i++) {
      await sendBatch(gateway, token, distinct(60));
      clock.advance(1000);
    }
    expect(await measured(gateway, 'traffic_spikes_total')).toBe(0);
  });

  test('counts the events of a project with little traffic without the shared store', async () => {
    const gateway = await start({ config: projectSpikes });
    for (let i = 0; i < 10; i++) await sendBatch(gateway, await newToken(), distinct(1));
    expect(await measured(gateway, 'limit_counters')).toBe(0);
  });
});
