import { randomUUID } from 'node:crypto';
import { isObject } from '@millrace/contracts';
import { createTestTenant, eventually } from '@millrace/testing';
import fc from 'fast-check';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from './testing/test-gateway.ts';
import { readTopics, type TopicReader } from './testing/topic-reader.ts';
import { measured } from './testing/traffic-probe.ts';

/**
 * Tests that an invalid item is dropped, counted and reported in a warning, while the batch's other items are stored.
 */
let fixture: GatewayFixture;
let gateway: TestGateway;
let reader: TopicReader;
let token: string;

beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
  reader = await readTopics(fixture.log, [fixture.topics.live]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});
beforeEach(async () => {
  ({ token } = await createTestTenant(fixture.database));
});

const event = (name: string, more: object = {}) => ({ event: name, distinct_id: 'u', properties: {}, ...more });
const deep = JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`);
/** Bodies over 256 KiB are processed in a worker thread. */
const filler = { properties: { filler: 'x'.repeat(300_000) } };

async function post(path: string, body: unknown, at = gateway) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(at.url + path, { method: 'POST', body: text });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const taken = { status: 200, body: { status: 'Ok' } };
const uuid = randomUUID();
/** Invalid items, with the field and reason that the warning reports. */
const faults: [string, unknown, { field: string | null; reason: string; uuid?: string }][] = [
  ['body-023 null', null, { field: null, reason: 'must be a JSON object, not null' }],
  ['a string', 'event', { field: null, reason: 'must be a JSON object, not string' }],
  ['an array', [event('inner')], { field: null, reason: 'must be a JSON object, not array' }],
  [
    'null properties',
    event('bad', { properties: null }),
    { field: 'properties', reason: 'must be an object, not null' },
  ],
  [
    'properties that are a number',
    event('bad', { properties: 5 }),
    { field: 'properties', reason: 'must be an object, not number' },
  ],
  [
    'properties as a non-empty array',
    event('bad', { properties: [1] }),
    { field: 'properties', reason: 'must be an object, not array' },
  ],
  [
    '$set as a string',
    event('bad', { $set: 'x', uuid }),
    { field: '$set', reason: 'must be an object, not string', uuid },
  ],
  [
    '$set_once true',
    event('bad', { $set_once: true }),
    { field: '$set_once', reason: 'must be an object, not boolean' },
  ],
  ['field-015 an invalid UUID', event('bad', { uuid: 'one' }), { field: 'uuid', reason: 'must be a UUID' }],
  ['a UUID that is a number', event('bad', { uuid: 7 }), { field: 'uuid', reason: 'must be a string, not number' }],
  [
    'a timestamp that is an object',
    event('bad', { timestamp: {} }),
    { field: 'timestamp', reason: 'must be a string or a number, not object' },
  ],
  [
    'an offset that is a fraction',
    event('bad', { offset: 1.5 }),
    { field: 'offset', reason: 'must be an integer, not number' },
  ],
  [
    'field-018 a cookieless mode that is a string',
    event('bad', { properties: { $cookieless_mode: 'yes' } }),
    { field: 'properties.$cookieless_mode', reason: 'must be a boolean, not string' },
  ],
];

describe.each([
  ['a small batch', {}],
  ['a large batch', filler],
])('%s', (_size, more) => {
  const good = (name: string) => event(name, more);

  test('reports the index, field and reason of each invalid event, and stores the others in order', async () => {
    const batch = faults.flatMap(([, item], index) => [good(`good ${index}`), item]);
    const names = faults.map((_, index) => `good ${index}`);
    const before = await measured(gateway, 'capture_events_dropped_total', { cause: 'invalid_event' });
    expect(await post('/batch/', { api_key: token, batch })).toMatchObject(taken);
    expect((await reader.events(token, names.length)).map((stored) => stored.event)).toEqual(names);
    const [warning] = await reader.warnings(token, 1);
    expect(warning).toMatchObject({ type: 'invalid_event', count: faults.length });
    expect(warning?.details.samples).toEqual(
      faults.slice(0, 10).map(([, item, told], index) => ({
        index: 2 * index + 1,
        uuid: null,
        event: index < 3 ? null : (item as { event: string }).event,
        ...told,
      })),
    );
    const dropped = (await measured(gateway, 'capture_events_dropped_total', { cause: 'invalid_event' })) - before;
    expect(dropped).toBe(faults.length);
  });

  test.each(faults)('drops only the invalid item from a batch: %s', async (_what, item, told) => {
    expect(await post('/batch/', { api_key: token, batch: [item, good('kept')] })).toMatchObject(taken);
    expect((await reader.events(token, 1)).map((stored) => stored.event)).toEqual(['kept']);
    expect(await reader.warnings(token, 1)).toMatchObject([
      { type: 'invalid_event', count: 1, details: { samples: [{ index: 0, ...told }] } },
    ]);
  });

  test('validates each event of an array separately', async () => {
    const items = [good('one'), 5, event('bad', { properties: 5 }), good('two')].map((item) =>
      typeof item === 'object' ? { ...item, api_key: token } : item,
    );
    expect(await post('/e/', items)).toMatchObject(taken);
    expect((await reader.events(token, 2)).map((stored) => stored.event)).toEqual(['one', 'two']);
    const [warning] = await reader.warnings(token, 1);
    expect(warning?.details.samples).toMatchObject([{ index: 1 }, { index: 2 }]);
  });

  test('distinguishes events without a name or ID from events with a wrong type or too many nesting levels', async () => {
    const batch = [
      event(''),
      event('deep', { properties: { deep } }),
      good('kept'),
      5,
      event('bad', { distinct_id: '' }),
    ];
    expect(await post('/batch/', { api_key: token, batch })).toMatchObject(taken);
    expect((await reader.events(token, 1)).map((stored) => stored.event)).toEqual(['kept']);
    const told = (await reader.warnings(token, 4)).map(({ type, details }) => [
      type,
      (details.samples as { index: number }[]).map(({ index }) => index),
    ]);
    expect(told.sort()).toEqual([
      ['invalid_event', [3]],
      ['malformed_event_properties', [1]],
      ['missing_distinct_id', [4]],
      ['missing_event_name', [0]],
    ]);
  });

  test('returns the first error of a batch without valid events, and stores nothing', async () => {
    const batch = [{ ...good(''), distinct_id: '' }, { ...good('bad'), $set: 5 }, 5];
    expect(await post('/batch/', { api_key: token, batch })).toMatchObject({
      status: 400,
      body: { code: 'invalid_payload', attr: 'batch__1__$set' },
    });
    expect(await post('/batch/', { api_key: token, batch: [good('after')] })).toMatchObject(taken);
    expect((await reader.records(token, 1)).map(({ value }) => value.kind)).toEqual(['event']);
  });
});

test.each([
  ['a single event', (key: string) => ({ api_key: key, ...event('bad', { properties: 5 }) }), 'properties'],
  ['a batch of a single event', (key: string) => ({ api_key: key, batch: [null] }), 'batch__0'],
])('rejects a request with %s', async (_what, body, attr) => {
  expect(await post('/batch/', body(token))).toMatchObject({ status: 400, body: { code: 'invalid_payload', attr } });
});

test.each([
  ['only a key', {}],
  ['events in a field with another name', { events: [event('a')] }],
  ['a distinct ID', { distinct_id: 'u' }],
])('/batch/ with %s returns 400 instead of dropping the event without an error', async (_what, body) => {
  for (const path of ['/batch/', '/batch', '/i/v0/ai/batch/']) {
    expect(await post(path, { api_key: token, ...body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_payload', attr: 'batch' },
    });
  }
  // On `/capture/`, the body is an event without a name (docs/wire-rules.md#dropped-events).
  expect(await post('/capture/', { api_key: token, ...body })).toMatchObject(taken);
});

test.each([
  ['a small request', {}],
  ['a large request', filler],
])("ignores a client's field that has the name of an internal field: %s", async (_size, more) => {
  const torn = `{"event":"torn","distinct_id":"u","raw":1,"properties":{"half":"\\ud83c"}}`;
  const raw = { json: 'x', properties: { start: 1, end: 9 }, $set: null, $set_once: null, $unset: null };
  const own = JSON.stringify({ ...event('own', more), raw });
  expect(await post('/batch/', `{"api_key":"${token}","batch":[${torn},${own}]}`)).toMatchObject(taken);
  expect((await reader.events(token, 2)).map((stored) => stored.event)).toEqual(['torn', 'own']);
});

describe('empty arrays that PHP sends instead of objects', () => {
  const empty = { properties: [], $set: [], $set_once: [], $groups: [] };
  const inProperties = { $set: [], $set_once: [], $groups: [], $group_set: [], list: [], big: 1 };

  test.each([
    ['a small batch', {}],
    ['a large batch', filler],
  ])("reads PHP's empty arrays as empty objects in %s", async (_size, more) => {
    const batch = [
      event('empty', empty),
      event('inside', { properties: inProperties }),
      event('spaced', more),
      event('$groupidentify', { properties: { $group_type: 'company', $group_key: 'acme', $group_set: [] } }),
    ];
    const body = JSON.stringify({ api_key: token, batch }).replaceAll('[]', '[ \n]');
    expect(await post('/batch/', body)).toMatchObject(taken);
    const stored = await reader.events(token, 4);
    expect(stored[0]).toMatchObject({ properties: {}, $set: {}, $set_once: {} });
    const objects = { $set: {}, $set_once: {}, $groups: {}, $group_set: {} };
    expect(stored[1]?.properties).toEqual({ ...objects, list: [], big: 1 });
    expect(stored[3]?.properties).toEqual({ $group_type: 'company', $group_key: 'acme', $group_set: {} });
  });

  test("reads PHP's empty arrays as empty objects in an event about a person without properties", async () => {
    const sent = { api_key: token, event: '$identify', distinct_id: 'u', groups: [], $set: [], properties: [] };
    expect(await post('/capture/', sent)).toMatchObject(taken);
    expect(await reader.events(token, 1)).toMatchObject([{ event: '$identify', $set: {}, properties: {} }]);
  });
});

test('drops an event that is too large for a record from a batch, and reports its size', async () => {
  const huge = event('huge', { uuid, properties: { text: 'x'.repeat(1_100_000) } });
  expect(await post('/batch/', { api_key: token, batch: [event('small'), huge] })).toMatchObject(taken);
  const [warning] = await reader.warnings(token, 1);
  expect(warning).toMatchObject({ type: 'message_size_too_large', count: 1 });
  const [sample] = (warning?.details.samples ?? []) as { bytes: number }[];
  expect(sample).toEqual({ index: 1, uuid, event: 'huge', bytes: expect.any(Number), max_bytes: 1_010_000 });
  expect(sample?.bytes).toBeGreaterThan(1_100_000);
  expect(sample?.bytes).toBeLessThan(1_101_000);
});

describe('truncated distinct IDs', () => {
  const long = 'x'.repeat(200);

  test.each([
    ['a small request', {}],
    ['a large request', filler],
  ])('warns about a truncated distinct ID, because two users may become one person: %s', async (_size, more) => {
    const batch = [
      event('one', { distinct_id: `${long}1`, uuid, ...more }),
      event('two', { distinct_id: `${long}2` }),
      event('whole', { distinct_id: long }),
      event('emoji', { distinct_id: '🎉'.repeat(150) }),
    ];
    expect(await post('/batch/', { api_key: token, batch })).toMatchObject(taken);
    const ids = new Map((await reader.events(token, 4)).map((stored) => [stored.event, stored.distinct_id]));
    expect([ids.get('one'), ids.get('two'), ids.get('whole')]).toEqual([long, long, long]);
    const [warning] = await reader.warnings(token, 1);
    expect(warning).toMatchObject({ type: 'distinct_id_truncated', count: 2 });
    expect(warning?.details.samples).toMatchObject([
      { index: 0, uuid, event: 'one', field: 'distinct_id', distinct_id: long },
      { index: 1, event: 'two', field: 'distinct_id', distinct_id: long },
    ]);
  });

  test('warns about a truncated second ID of a merge event', async () => {
    const properties = { alias: `${long}1` };
    expect(await post('/batch/', { api_key: token, batch: [event('$create_alias', { properties })] })).toMatchObject(
      taken,
    );
    expect(await reader.warnings(token, 1)).toMatchObject([
      {
        type: 'distinct_id_truncated',
        details: { samples: [{ index: 0, event: '$create_alias', field: 'properties.alias', distinct_id: long }] },
      },
    ]);
  });
});

describe('batches of arbitrary valid and invalid events', () => {
  const anything = fc.oneof(fc.constant(undefined), fc.constant([]), fc.jsonValue({ maxDepth: 2 }));
  const uuids = fc.oneof(anything, fc.uuid(), fc.constant(''));
  const fields = { properties: anything, $set: anything, $set_once: anything, timestamp: anything, offset: anything };
  const item = fc.oneof(
    { weight: 2, arbitrary: fc.constant({ properties: { a: 1 } }) },
    fc.record({ ...fields, uuid: uuids }, { requiredKeys: [] }),
    fc.record({ distinct_id: anything }),
    fc.jsonValue({ maxDepth: 1 }),
  );

  const isEmptyArray = (value: unknown) => Array.isArray(value) && value.length === 0;

  /** Returns the expected result for an item. Implements the rules independently of the gateway. */
  function fate(sent: unknown): 'stored' | 'invalid_event' | 'missing_distinct_id' {
    if (!isObject(sent)) return 'invalid_event';
    const { properties, $set, $set_once, timestamp, offset, uuid: id, distinct_id: distinctId } = sent;
    const areObjects =
      (properties === undefined || isObject(properties) || isEmptyArray(properties)) &&
      [$set, $set_once].every((value) => (value ?? null) === null || isObject(value) || isEmptyArray(value));
    const isTime = ['string', 'number'].includes(typeof (timestamp ?? ''));
    const isUuid = /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})?$/.test(String(id ?? ''));
    if (!areObjects || !isTime || !Number.isInteger(offset ?? 0) || !isUuid || typeof (id ?? '') !== 'string') {
      return 'invalid_event';
    }
    return typeof (distinctId ?? '') === 'string' && String(distinctId ?? '').trim() === ''
      ? 'missing_distinct_id'
      : 'stored';
  }

  test.each([
    ['in the main thread', {}],
    ['in a worker thread', filler],
  ])('stores each valid event once and reports each invalid event: %s', async (_where, more) => {
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 9 }), async (items) => {
        const { token: key } = await createTestTenant(fixture.database);
        const sent = items.map((each, index) =>
          isObject(each) ? { distinct_id: 'u', ...each, event: `e${index}` } : each,
        );
        const body = JSON.stringify({ api_key: key, batch: [...sent, event('last', more)] });
        expect(await post('/batch/', body)).toMatchObject(taken);
        const { batch } = JSON.parse(body) as { batch: Record<string, unknown>[] };
        const indexesOf = (what: string) => [...batch.keys()].filter((index) => fate(batch[index]) === what);
        const dropped = ['invalid_event', 'missing_distinct_id'].filter((one) => indexesOf(one).length > 0);
        const stored = await reader.events(key, indexesOf('stored').length);
        expect(stored.map((each) => each.event).sort()).toEqual(
          indexesOf('stored')
            .map((index) => batch[index]?.event)
            .sort(),
        );
        const named = await eventually(async () => {
          const found = (await reader.warnings(key, dropped.length)).flatMap(({ type, details }) =>
            dropped.includes(type) ? [[type, (details.samples as { index: number }[]).map(({ index }) => index)]] : [],
          );
          expect(found).toHaveLength(dropped.length);
          return Object.fromEntries(found);
        });
        expect(named).toEqual(Object.fromEntries(dropped.map((one) => [one, indexesOf(one)])));
      }),
      { numRuns: 40 },
    );
  });
});
