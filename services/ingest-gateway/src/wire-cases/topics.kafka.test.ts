import { createTestTenant } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';

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

const dayMs = 86_400_000;
const of = (event: string, more: object = {}) => ({ event, distinct_id: 'b', properties: {}, ...more });

describe('the topics of live and unusual events', () => {
  test.each<[string, object[], object, 'live' | 'historical']>([
    [
      'topic-004 special events are in the same topic as others',
      ['$exception', 'a', '$$heatmap', '$$client_ingestion_warning', 'b'].map((name) => of(name)),
      {},
      'live',
    ],
    [
      'topic-005 special events of a migration',
      ['$exception', 'a', '$$heatmap'].map((name) => of(name)),
      { historical_migration: true },
      'historical',
    ],
    [
      'topic-021 a page view with heatmap data is one event',
      [of('$pageview', { properties: { $heatmap_data: {} } })],
      {},
      'live',
    ],
    ['time-015 a day old', [of('old', { timestamp: new Date(Date.now() - dayMs).toISOString() })], {}, 'live'],
    ['field-026 an offset property that is not an integer', [of('a', { properties: { offset: 'soon' } })], {}, 'live'],
  ])('%s', async (_name, batch, more, expected) => {
    const { token } = await createTestTenant(fixture.database, { plan: 'full' });
    const body = JSON.stringify({ api_key: token, batch, ...more });
    expect((await fetch(`${gateway.url}/batch/`, { method: 'POST', body })).status).toBe(200);
    const records = await reader.records(token, batch.length);
    expect(new Set(records.map(({ topic }) => topic))).toEqual(new Set([fixture.topics[expected]]));
    expect(records.map(({ value }) => value)).toMatchObject(batch);
    const key = expected === 'historical' ? token : `${token}:b`;
    expect(new Set(records.map((record) => record.key))).toEqual(new Set([key]));
  });

  test("topic-020 the record contains the time that was computed from the client's clock", async () => {
    const { token } = await createTestTenant(fixture.database, { plan: 'full' });
    const timestamp = new Date(Date.now() - dayMs).toISOString();
    const body = JSON.stringify({ api_key: token, ...of('a', { timestamp }) });
    await fetch(`${gateway.url}/capture/`, { method: 'POST', body });
    expect(await reader.events(token, 1)).toMatchObject([{ timestamp }]);
  });

  test('topic-019 fails the request if the log fails on the third of five writes, and attempts no later writes', async () => {
    const { token } = await createTestTenant(fixture.database, { plan: 'full' });
    let calls = 0;
    const append: typeof fixture.log.append = async (records) => {
      calls += 1;
      if (calls === 3) throw new Error('the log is gone');
      return fixture.log.append(records);
    };
    const failing = await fixture.startGateway({ log: { append } });
    // One write contains at most three of these events.
    const batch = Array.from({ length: 15 }, (_, index) => of(`e${index}`, { properties: { p: 'x'.repeat(800_000) } }));
    const body = JSON.stringify({ api_key: token, batch });
    expect((await fetch(`${failing.url}/batch/`, { method: 'POST', body })).status).toBeGreaterThanOrEqual(500);
    expect(calls).toBe(3);
    // The first two writes stay in the log. The client repeats the whole request, and the UUIDs prevent duplicates.
    await fetch(`${gateway.url}/batch/`, { method: 'POST', body: JSON.stringify({ api_key: token, ...of('after') }) });
    const names = (await reader.events(token, 7)).map(({ event }) => event);
    expect(names).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'after']);
  });
});
