import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createTestTenant, eventually, setTestPlan } from '@millrace/testing';
import { sendV1, type V1Request, v1Batch, v1Event } from '../testing/send-v1.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { measured } from '../testing/traffic-probe.ts';

/** Tests Capture v1 with bodies that a worker thread processes. The responses must be the same as for small bodies. */
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

const newTenant = () => createTestTenant(fixture.database);
const filler = 'x'.repeat(1000);
const ok = { result: 'ok' };
const dropped = (details: string) => ({ result: 'drop', details });
const events = (change: (index: number) => object = () => ({})) =>
  Array.from({ length: 600 }, (_, index) =>
    v1Event({ properties: { index, filler, 'größe "🎉"': [{ '': null }] }, ...change(index) }),
  );
const inFlightBytes = async ({ metrics }: TestGateway) =>
  /^millrace_capture_in_flight_bytes (\d+)/m.exec(await metrics.registry.metrics())?.[1];

test.each<[string, (text: string) => V1Request]>([
  ['uncompressed', (body) => ({ body })],
  ['as gzip, which is small in transit', (text) => ({ body: gzipSync(text), headers: { 'content-encoding': 'gzip' } })],
  ['as undeclared gzip', (text) => ({ body: gzipSync(text) })],
  ['as deflate', (text) => ({ body: deflateSync(text), headers: { 'content-encoding': 'deflate' } })],
  ['as br', (text) => ({ body: brotliCompressSync(text), headers: { 'content-encoding': 'br' } })],
])('stores a large batch %s completely and in order, with a result for each event', async (_how, encode) => {
  const { token } = await newTenant();
  const batch = events(() => ({ session_id: 's1', options: { process_person_profile: false } }));
  const response = await sendV1(gateway, token, encode(JSON.stringify(v1Batch(...batch))));
  expect(response.status).toBe(200);
  expect(Object.entries(response.json.results)).toEqual(batch.map(({ uuid }) => [uuid, ok]));
  const stored = await reader.events(token, batch.length);
  const restored = { $lib: 'posthog-test', $lib_version: '1.2.3', $session_id: 's1', $process_person_profile: false };
  expect(stored.map(({ properties }) => properties)).toEqual(
    batch.map(({ properties }) => ({ ...properties, ...restored })),
  );
  expect(await inFlightBytes(gateway)).toBe('0');
});

test('returns a result for each event, and reports the indexes of dropped events to the project', async () => {
  const { token } = await newTenant();
  const at = await fixture.startGateway({ config: { dropEventsByTokenDistinctId: `${token}:unwanted` } });
  const deep = JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`);
  const faults: Record<number, object> = {
    0: { event: '' },
    7: { event: '$performance_event' },
    300: { distinct_id: 7 },
    301: { properties: { deep } },
    302: { distinct_id: 'unwanted' },
    303: { properties: { torn: '\ud83c', "it's \u0000": 1 } },
    304: { timestamp: new Date(Date.now() + 10 * 86_400_000).toISOString() },
    599: { options: { cookieless_mode: 'perhaps' } },
  };
  const batch = events((index) => faults[index] ?? {});
  const response = await sendV1(at, token, { body: v1Batch(...batch) });
  const expected: Record<number, object> = {
    0: dropped('missing_event_name'),
    7: dropped('performance_event'),
    300: dropped('invalid_distinct_id'),
    301: dropped('malformed_event_properties'),
    302: dropped('blocked_token'),
    599: dropped('invalid_options'),
  };
  expect(Object.entries(response.json.results)).toEqual(batch.map(({ uuid }, index) => [uuid, expected[index] ?? ok]));
  const stored = await reader.events(token, 594);
  expect(stored.find(({ properties }) => 'torn' in properties)?.properties).toMatchObject({
    torn: '\ufffd',
    "it's \ufffd": 1,
  });
  const warnings = await reader.warnings(token, 5);
  const reported = warnings.map(({ type, details }) => [
    type,
    (details.samples as { index: number }[]).map((s) => s.index),
  ]);
  expect(reported.sort()).toEqual([
    ['event_timestamp_in_future', [304]],
    ['invalid_distinct_id', [300]],
    ['invalid_options', [599]],
    ['malformed_event_properties', [301]],
    ['missing_event_name', [0]],
  ]);
});

/**
 * The batch contains events that only Capture v1 drops, and events that no path can store. A low record limit makes an
 * event too large even in a small batch.
 */
test.each([
  ['small', 2_000],
  ['large', 900_000],
])('reports invalid events and an event that is too large in a %s batch', async (_size, maxRecordBytes) => {
  const { token } = await newTenant();
  const at = await fixture.startGateway({ config: { maxRecordBytes } });
  const huge = { properties: { text: 'y'.repeat(maxRecordBytes) } };
  const kinds: [string, object][] = [
    ['event_name_too_long', { event: 'n'.repeat(201) }],
    ['message_size_too_large', huge],
    ['invalid_event_timestamp', { timestamp: 'yesterday' }],
    ['distinct_id_too_large', { distinct_id: 'd'.repeat(201) }],
    ['message_size_too_large', huge],
    ['invalid_options', { options: 7 }],
  ];
  const faulty = kinds.map(([, fault]) => v1Event(fault));
  const [first, last] = [v1Event({ event: 'first' }), v1Event({ event: 'last' })];
  const response = await sendV1(at, token, { body: v1Batch(first, ...faulty, last) });
  expect([response.status, Object.entries(response.json.results)]).toEqual([
    200,
    [[first.uuid, ok], ...faulty.map(({ uuid }, number) => [uuid, dropped(kinds[number]?.[0] ?? '')]), [last.uuid, ok]],
  ]);
  expect((await reader.events(token, 2)).map(({ event }) => event)).toEqual(['first', 'last']);
  const warnings = await reader.warnings(token, 5);
  expect(warnings.find(({ type }) => type === 'message_size_too_large')).toMatchObject({
    count: 2,
    details: {
      samples: [
        { index: 2, uuid: faulty[1]?.uuid },
        { index: 5, uuid: faulty[4]?.uuid },
      ],
    },
  });
  for (const [cause, count] of [
    ['message_size_too_large', 2],
    ['event_name_too_long', 1],
  ] as const) {
    expect(await measured(at, 'capture_events_dropped_total', { cause })).toBe(count);
  }
});

test('returns a result for each event of a large batch without valid events, and records one warning', async () => {
  const { token } = await newTenant();
  const batch = events(() => ({ event: '' }));
  const response = await sendV1(gateway, token, { body: v1Batch(...batch) });
  expect(Object.entries(response.json.results)).toEqual(batch.map(({ uuid }) => [uuid, dropped('missing_event_name')]));
  const [warning] = await reader.warnings(token, 1);
  expect(warning).toMatchObject({ type: 'missing_event_name', count: 600 });
  const samples = (warning?.details.samples ?? []) as { uuid: string }[];
  expect(samples.map(({ uuid }) => uuid)).toEqual(batch.slice(0, 10).map(({ uuid }) => uuid));
});

test('marks all events of a large batch over the quota as limited', async () => {
  const { token, organizationId } = await newTenant();
  await setTestPlan(fixture.database, organizationId, 'full', { eventsPerMonth: 1 });
  const at = await fixture.startGateway({ config: { limitFlushMs: 10 } });
  await sendV1(at, token, { body: v1Batch(v1Event()) });
  const batch = events((index) => (index === 5 ? { event: '' } : {}));
  const { json } = await sendV1(at, token, { body: v1Batch(...batch) });
  const limited = { result: 'limited', details: 'billing_limit_exceeded' };
  expect(Object.entries(json.results)).toEqual(
    batch.map(({ uuid }, index) => [uuid, index === 5 ? dropped('missing_event_name') : limited]),
  );
});

const text = (...batch: unknown[]) => JSON.stringify(v1Batch(...batch));
test.each<[number, string, () => V1Request]>([
  [400, 'request_parsing_error', () => ({ body: `${text(...events())}x` })],
  [400, 'invalid_event_uuid', () => ({ body: text(...events((index) => (index === 412 ? { uuid: 'one' } : {}))) })],
  [400, 'invalid_batch', () => ({ body: text(...events(), 'event') })],
  [
    400,
    'request_decoding_error',
    () => ({ body: gzipSync(text(...events())).subarray(0, -20), headers: { 'content-encoding': 'gzip' } }),
  ],
  [
    400,
    'request_decoding_error',
    () => ({ body: gzipSync(`${text(...events())}x`), headers: { 'content-encoding': 'br' } }),
  ],
  [413, 'payload_too_large', () => ({ body: gzipSync(text(...events(() => ({ many: Array(1700).fill([]) })))) })],
  [413, 'payload_too_large', () => ({ body: text(v1Event({ properties: { text: 'y'.repeat(1_100_000) } })) })],
])('returns the same error for a large body as for a small one: %i %s (%#)', async (status, error, sending) => {
  const { token } = await newTenant();
  const response = await sendV1(gateway, token, sending());
  expect([response.status, response.json.error]).toEqual([status, error]);
  expect(await inFlightBytes(gateway)).toBe('0');
});

test("counts a thread's memory towards the byte budget, and allows a retry after a thread has crashed", async () => {
  const { token } = await newTenant();
  const tight = await fixture.startGateway({ config: { maxInFlightBytes: 1024 * 1024 } });
  const zipped = gzipSync(text(...events(), ...events()));
  const unlucky = await fixture.startGateway({ exitsOn: 'end of the thread' });
  const ending = text(v1Event({ event: 'end of the thread' }), ...events());
  for (const [at, body] of [
    [tight, zipped],
    [unlucky, ending],
  ] as const) {
    const response = await sendV1(at, token, { body });
    expect([response.status, response.json.error, response.headers.get('retry-after')]).toEqual([
      503,
      'service_unavailable',
      '1',
    ]);
    expect(await inFlightBytes(at)).toBe('0');
    expect(await sendV1(at, token, { body: v1Batch(v1Event()) })).toMatchObject({ status: 200 });
  }
});

test("rejects a body that is too large for a thread's heap", async () => {
  const { token } = await newTenant();
  const small = await fixture.startGateway({ config: { largeBodyHeapMb: 128 } });
  const large = gzipSync(text(v1Event({ properties: { text: `${'é'.repeat(14 * 1024 * 1024)}🎉` } })), { level: 1 });
  const response = await sendV1(small, token, { body: large });
  expect([response.status, response.json.error]).toEqual([413, 'payload_too_large']);
  expect(await sendV1(small, token, { body: text(...events()) })).toMatchObject({ status: 200 });
});

test('responds to a small request while an earlier large request is still in progress', async () => {
  const { token } = await newTenant();
  const at = await fixture.startGateway();
  // Send a large body to start the thread.
  await sendV1(at, token, { body: text(...events()) });
  const received = () => measured(at, 'capture_received_bytes_total', {});
  const before = await received();
  // The gateway rejects this body only after it has parsed all of it, so the response does not wait for the log.
  const many = Array(240_000).fill({ a: [1] });
  const body = text(v1Event({ properties: { many } }), v1Event({ uuid: 'one' }));
  const finished: string[] = [];
  const large = sendV1(at, token, { body }).then(({ status }) => finished.push(`large ${status}`));
  await eventually(async () => (await received()) === before + Buffer.byteLength(body), {
    what: 'the large body having arrived',
    intervalMs: 1,
  });
  const small = sendV1(at, token, { body: v1Batch(v1Event()) }).then(({ status }) => finished.push(`small ${status}`));
  await Promise.all([large, small]);
  expect(finished).toEqual(['small 200', 'large 400']);
});
