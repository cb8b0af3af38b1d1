import { addRestriction, removeRestriction } from '@millrace/accounts';
import type { RestrictionKind } from '@millrace/contracts';
import { createTestTenant, eventually } from '@millrace/testing';
import {
  createGatewayFixture,
  type GatewayFixture,
  type GatewayOptions,
  type TestGateway,
} from '../testing/test-gateway.ts';
import { type ReadRecord, readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { measured, sendBatch, times } from '../testing/traffic-probe.ts';

let fixture: GatewayFixture;
let reader: TopicReader;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  const { live, overflow, historical } = fixture.topics;
  reader = await readTopics(fixture.log, [live, overflow, historical]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});

/** The gateway polls the table so rarely that it can notice a change during the test only through a notification. */
const start = ({ config, ...parts }: GatewayOptions = {}) =>
  fixture.startGateway({ ...parts, config: { restrictionsRefreshMs: 600_000, trafficReportMs: 50, ...config } });
const newToken = async () => (await createTestTenant(fixture.database)).token;
const ids = (records: ReadRecord[]) =>
  records.flatMap(({ value }) => (value.kind === 'event' ? [value.distinct_id] : [])).sort();
const inForce = (gateway: TestGateway) => measured(gateway, 'ingestion_restrictions');

async function restrict(kind: RestrictionKind, token: string, distinctId: string | null): Promise<string> {
  return (await addRestriction(fixture.database.sql, { kind, token, distinctId })).id;
}

describe.each(['settings', 'table'] as const)('event restrictions from the %s', (source) => {
  const settings = {
    drop_event: 'dropEventsByTokenDistinctId',
    force_overflow: 'ingestionForceOverflowByTokenDistinctId',
    skip_person_processing: 'skipPersonProcessingByTokenDistinctId',
  } as const;

  async function startWith(kind: RestrictionKind, entries: [token: string, distinctId: string | null][]) {
    if (source === 'settings') {
      const list = entries.map(([token, distinctId]) => (distinctId === null ? token : `${token}:${distinctId}`));
      return start({ config: { [settings[kind]]: ` ${list.join(', ')},` } });
    }
    for (const [token, distinctId] of entries) await restrict(kind, token, distinctId);
    return start();
  }

  test('topic-014 drop list `t1:a,t2`: drops these events with 200, counts and reports them, and stores other events', async () => {
    const [t1, t2] = [await newToken(), await newToken()];
    const gateway = await startWith('drop_event', [
      [t1, 'a:colon'],
      [t2, null],
    ]);
    expect(await sendBatch(gateway, t1, ['a:colon', 'b', 'a:colon'])).toMatchObject({ status: 200 });
    expect(await sendBatch(gateway, t2, ['a:colon', 'b'])).toMatchObject({ status: 200, text: '{"status":"Ok"}' });
    expect(await sendBatch(gateway, t2, ['a'], { path: '/e/?beacon=1' })).toMatchObject({ status: 204, text: '' });
    expect(await sendBatch(gateway, t2, ['a'], { isHistorical: true })).toMatchObject({ status: 200 });
    expect(ids(await reader.records(t1, 1))).toEqual(['b']);
    expect(await measured(gateway, 'capture_events_dropped_total', { cause: 'blocked_token' })).toBe(6);
    expect(await reader.warnings(t1, 1)).toMatchObject([{ type: 'blocked_token', count: 2 }]);
    await eventually(
      async () => {
        const warnings = await reader.warnings(t2, 1);
        return warnings.reduce((sum, { count }) => sum + count, 0) === 4;
      },
      {
        what: 'Every dropped event in a warning',
        describe: async () => JSON.stringify((await reader.warnings(t2, 1)).map(({ uuid, count }) => [uuid, count])),
      },
    );
    expect(ids(await reader.records(t2, 1))).toEqual([]);
  });

  test('topic-009 E132 forced overflow by key or distinct ID: writes the events without a record key and a person', async () => {
    const [t1, t2] = [await newToken(), await newToken()];
    const gateway = await startWith('force_overflow', [
      [t1, 'a'],
      [t2, null],
    ]);
    await sendBatch(gateway, t1, ['a', 'b']);
    await sendBatch(gateway, t2, ['a']);
    const [forced, kept] = (await reader.records(t1, 2)).sort((x, y) => x.topic.localeCompare(y.topic)).reverse();
    expect(forced).toMatchObject({
      topic: fixture.topics.overflow,
      key: null,
      value: { distinct_id: 'a', force_disable_person_processing: true },
    });
    expect(kept).toMatchObject({ topic: fixture.topics.live, key: `${t1}:b` });
    expect(kept?.value).not.toHaveProperty('force_disable_person_processing');
    expect(await reader.records(t2, 1)).toMatchObject([{ topic: fixture.topics.overflow, key: null }]);
    expect(await measured(gateway, 'capture_events_rerouted_overflow_total', { reason: 'force_overflow' })).toBe(2);
  });

  test('topic-002 topic-010 forced overflow does not change the topic and the persons of a migration', async () => {
    const token = await newToken();
    const gateway = await startWith('force_overflow', [[token, null]]);
    await sendBatch(gateway, token, ['a'], { isHistorical: true });
    const [record] = await reader.records(token, 1);
    expect(record).toMatchObject({ topic: fixture.topics.historical, key: token });
    expect(record?.value).not.toHaveProperty('force_disable_person_processing');
  });

  // Unlike in PostHog, an event without a person keeps its key on the live topic. This costs nothing and keeps the
  // events in order.
  test('topic-022 skip list: writes the events without a person, but to the usual topic with the usual key', async () => {
    const token = await newToken();
    const gateway = await startWith('skip_person_processing', [[token, 'a']]);
    await sendBatch(gateway, token, ['a', 'b']);
    await sendBatch(gateway, token, ['a'], { isHistorical: true });
    const marked = (await reader.records(token, 3)).filter(
      ({ value }) => value.kind === 'event' && value.force_disable_person_processing === true,
    );
    expect(marked.map(({ topic, key }) => `${topic} ${key}`).sort()).toEqual(
      [`${fixture.topics.live} ${token}:a`, `${fixture.topics.historical} ${token}`].sort(),
    );
    expect(await measured(gateway, 'capture_events_person_processing_skipped_total')).toBe(2);
  });
});

// Unlike in PostHog, operators can only drop events or send them to the overflow topic. They cannot send events to the
// dead letters or to any other topic, because no service would read them there.
test.each(['redirect_to_dlq', 'redirect_to_topic'])(
  'topic-011 topic-012 topic-013 rejects the unsupported restriction %s',
  async (kind) => {
    const added = restrict(kind as RestrictionKind, await newToken(), null);
    await expect(added).rejects.toMatchObject({ kind: 'invalid', code: 'invalid_choice', attr: 'kind' });
  },
);

test('all gateways apply an announced restriction immediately', async () => {
  const token = await newToken();
  const gateways = [await start(), await start()];
  const before = await inForce(gateways[0] as TestGateway);
  const id = await restrict('drop_event', token, null);
  await announceUntil(token, async () =>
    (await Promise.all(gateways.map(inForce))).every((count) => count === before + 1),
  );
  for (const gateway of gateways) await sendBatch(gateway, token, times(3));
  await removeRestriction(fixture.database.sql, id);
  await announceUntil(token, async () => (await Promise.all(gateways.map(inForce))).every((count) => count === before));
  for (const gateway of gateways) await sendBatch(gateway, token, ['kept']);
  expect((await reader.events(token, 2)).map(({ distinct_id }) => distinct_id)).toEqual(['kept', 'kept']);
});

/** Repeats a notification, because one that is sent before the gateway has subscribed is lost. */
async function announceUntil(token: string, isSeen: () => Promise<boolean>): Promise<void> {
  await eventually(
    async () => {
      await fixture.cache.publish('project-keys', token);
      return isSeen();
    },
    { what: 'The changed lists', intervalMs: 200 },
  );
}

test('a gateway applies an unannounced restriction with the next refresh', async () => {
  const token = await newToken();
  const gateway = await start({ config: { restrictionsRefreshMs: 100 } });
  const before = await inForce(gateway);
  await restrict('drop_event', token, null);
  await eventually(async () => (await inForce(gateway)) === before + 1, { what: 'The new entry' });
});

test('without PostgreSQL, the last known restrictions apply, and a new gateway uses those in its settings', async () => {
  const token = await newToken();
  await restrict('drop_event', token, 'listed');
  let isAway = false;
  let askedInVain = 0;
  const sql: typeof fixture.database.sql = {
    ...fixture.database.sql,
    query(text, values) {
      if (!isAway) return fixture.database.sql.query(text, values);
      askedInVain += 1;
      return Promise.reject(new Error('away'));
    },
  };
  const gateway = await start({ keys: { sql }, config: { restrictionsRefreshMs: 100 } });
  const known = await inForce(gateway);
  await sendBatch(gateway, token, ['first']);
  isAway = true;
  await eventually(() => askedInVain >= 2, { what: 'two questions in vain' });
  expect(await inForce(gateway)).toBe(known);
  expect(await sendBatch(gateway, token, ['listed'])).toMatchObject({ status: 200 });
  const fresh = await start({ keys: { sql }, config: { dropEventsByTokenDistinctId: `${token}:configured` } });
  expect(await inForce(fresh)).toBe(1);
  isAway = false;
  expect(ids(await reader.records(token, 1))).toEqual(['first']);
});
