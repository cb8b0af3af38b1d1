import { type CaptureRequest, type RequestContext, toCapturedEvents } from './capture-request.ts';
import type { ClientEvent } from './client-event.ts';
import { createDropTally } from './drops.ts';

const now = Date.UTC(2026, 10, 21, 12);
const context: RequestContext = {
  receivedAtMs: now,
  ip: '1.2.3.4',
  environmentId: null,
  nameForNameless: null,
  createUuid: () => 'made-up',
};
const uuid = '0190a6c1-0000-7000-8000-00000000abcd';

function capture(events: ClientEvent[], request: Partial<CaptureRequest> = {}, changes: Partial<RequestContext> = {}) {
  return toCapturedEvents(
    { token: 'phc_k', isHistorical: false, sentAtMs: null, dropped: createDropTally(), ...request },
    { events, first: 0 },
    { ...context, ...changes },
  );
}
const dropped = (events: ClientEvent[]) => Object.fromEntries(capture(events).dropped.counts());

test('converts an event to the record that the consumer reads', () => {
  const event = { event: 'a', distinct_id: 'b', uuid, timestamp: '2026-11-21T11:00:00Z', properties: { p: 1 } };
  const { accepted, topic } = capture([
    { ...event, $set: { s: 1 }, $set_once: { o: 1 }, $unset: ['u'], extra: 1 } as never,
  ]);
  expect(topic).toBe('live');
  expect(accepted.map(({ record }) => JSON.parse(JSON.stringify(record)))).toEqual([
    {
      kind: 'event',
      uuid,
      token: 'phc_k',
      distinct_id: 'b',
      event: 'a',
      timestamp: '2026-11-21T11:00:00.000Z',
      now: '2026-11-21T12:00:00.000Z',
      ip: '1.2.3.4',
      $set: { s: 1 },
      $set_once: { o: 1 },
      $unset: ['u'],
      properties: { p: 1 },
    },
  ]);
});

test('field-017, field-014 adds missing fields to an event', () => {
  const [accepted] = capture([{ event: 'a', distinct_id: 'b', uuid: '', $set: null, timestamp: null }]).accepted;
  expect(JSON.parse(JSON.stringify(accepted?.record))).toMatchObject({
    uuid: 'made-up',
    timestamp: '2026-11-21T12:00:00.000Z',
    properties: {},
  });
  expect(accepted?.record.$set).toBeUndefined();
});

test.each([
  ['field-013 unchanged', uuid, uuid],
  ['upper case', uuid.toUpperCase(), uuid],
  ['without hyphens', uuid.replaceAll('-', ''), uuid],
  ['in braces', `{${uuid}}`, uuid],
  ['as URN', `urn:uuid:${uuid}`, uuid],
  ['field-014 null', null, 'made-up'],
])("stores the client's UUID in canonical form: %s", (_name, sent, expected) => {
  expect(capture([{ event: 'a', distinct_id: 'b', uuid: sent }]).accepted[0]?.record.uuid).toBe(expected);
});

describe('dropping an event without failing the request', () => {
  test.each<[string, ClientEvent, object]>([
    ['field-003 empty name', { event: '', distinct_id: 'b' }, { missing_event_name: 1 }],
    ['body-034 no name', { distinct_id: 'b' }, { missing_event_name: 1 }],
    ['a name that is not a string', { event: 5, distinct_id: 'b' }, { missing_event_name: 1 }],
    ['field-001 no distinct ID', { event: 'a' }, { missing_distinct_id: 1 }],
    ['field-001 blank distinct ID', { event: 'a', distinct_id: ' ' }, { missing_distinct_id: 1 }],
    ['neither', {}, { missing_event_name: 1 }],
    ['field-024 performance event', { event: '$performance_event', distinct_id: 'b' }, { performance_event: 1 }],
  ])('%s', (_name, event, expected) => {
    expect(dropped([event])).toEqual(expected);
    expect(capture([event]).accepted).toEqual([]);
  });

  test("field-002 keeps a batch's other events, in their order", () => {
    const good = [1, 2, 3, 4].map((n) => ({ event: `e${n}`, distinct_id: 'b' }));
    const { accepted } = capture([good[0] ?? {}, { event: 'bad' }, ...good.slice(1)]);
    expect(accepted.map(({ record, index }) => [record.event, index])).toEqual([
      ['e1', 0],
      ['e2', 2],
      ['e3', 3],
      ['e4', 4],
    ]);
  });

  test('creates one warning for each drop reason, with at most ten samples and without properties', () => {
    const nameless = Array.from({ length: 12 }, () => ({ distinct_id: 'b', uuid, properties: { secret: 1 } }));
    const { dropped } = capture([
      ...nameless,
      { event: 'x', properties: { secret: 1 } },
      { event: '$performance_event', distinct_id: 'b' },
    ]);
    const sender = { path: '/batch', origin: 'https://shop.example.com', user_agent: 'posthog-python/6.7.6' };
    const facts = { sender, token: 'phc_k', environmentId: null, now: 'now', createUuid: () => 'w' };
    const warnings = dropped.toWarnings(facts);
    expect(warnings.map(({ type, count }) => [type, count])).toEqual([
      ['missing_event_name', 12],
      ['missing_distinct_id', 1],
    ]);
    expect(warnings[0]?.details.samples).toHaveLength(10);
    expect(warnings[1]).toEqual({
      kind: 'warning',
      uuid: 'w',
      token: 'phc_k',
      type: 'missing_distinct_id',
      count: 1,
      now: 'now',
      details: { ...sender, samples: [{ index: 12, uuid: null, event: 'x' }] },
    });
    expect(JSON.stringify(warnings)).not.toContain('secret');
  });
});

test('body-033 gives events without a name the default name of the path `/engage`', () => {
  const { accepted } = capture([{ $distinct_id: 5, $set: { a: 1 } }], {}, { nameForNameless: '$identify' });
  expect(accepted[0]?.record).toMatchObject({ event: '$identify', distinct_id: '5', $set: { a: 1 } });
});

test('topic-002 sends a historical batch to the historical topic and marks its records', () => {
  const { accepted, topic } = capture([{ event: 'a', distinct_id: 'b' }], { isHistorical: true });
  expect(topic).toBe('historical');
  expect(accepted[0]?.record.historical_migration).toBe(true);
});

test('field-019 chooses the partition of a cookieless event by its IP address', () => {
  const event = { event: 'a', distinct_id: 'b' };
  const { accepted } = capture([event, { ...event, properties: { $cookieless_mode: true } }]);
  expect(accepted.map(({ partitionId }) => partitionId)).toEqual(['b', '1.2.3.4']);
});

test('field-021 removes the client address of internal traffic', () => {
  const properties = { capture_internal: true };
  expect(capture([{ event: 'a', distinct_id: 'b', properties }]).accepted[0]?.record.ip).toBe('127.0.0.1');
});

test("copies the request's `sent_at` to the record", () => {
  expect(capture([{ event: 'a', distinct_id: 'b' }], { sentAtMs: now }).accepted[0]?.record.sent_at).toBe(
    '2026-11-21T12:00:00.000Z',
  );
});

test.each([
  ['$identify', '$anon_distinct_id'],
  ['$create_alias', 'alias'],
  ['$merge_dangerously', 'alias'],
])("truncates the second distinct ID of %s to 200 characters, like an event's distinct ID", (event, property) => {
  const long = 'é'.repeat(250);
  const { accepted } = capture([
    { event: 'seen', distinct_id: long },
    { event, distinct_id: 'user', properties: { [property]: long } },
    { event: 'other', distinct_id: 'user', properties: { [property]: long } },
  ]);
  const [seen, merge, other] = accepted.map(({ record }) => record);
  expect(merge?.properties[property]).toBe(seen?.distinct_id);
  expect(other?.properties[property]).toBe(long);
});
