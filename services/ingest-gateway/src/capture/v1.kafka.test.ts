import { randomUUID } from 'node:crypto';
import * as zlib from 'node:zlib';
import { AppError } from '@millrace/runtime';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { openRawConnection } from '../testing/raw-http.ts';
import {
  v1Batch as batchOf,
  v1Event as event,
  v1Origin as origin,
  v1RequestId as requestId,
  sendV1,
  type V1Request,
} from '../testing/send-v1.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { measured } from '../testing/traffic-probe.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let reader: TopicReader;
let common: TestTenant;

beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
  reader = await readTopics(fixture.log, [fixture.topics.live, fixture.topics.historical]);
  common = await createTestTenant(fixture.database, { plan: 'full' });
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});

type Sending = V1Request & { at?: TestGateway; token?: string };
const send = ({ at = gateway, token = common.token, ...sending }: Sending) => sendV1(at, token, sending);

describe('the Capture v1 response to a batch', () => {
  test.each(['/i/v1/analytics/events', '/i/v1/analytics/events/'])('%s accepts a batch', async (path) => {
    const { token } = await createTestTenant(fixture.database);
    const events = [event({ event: 'first' }), event({ event: 'second' })];
    const response = await send({ path, token, body: batchOf(...events) });
    expect([response.status, response.json]).toEqual([
      200,
      { results: Object.fromEntries(events.map(({ uuid }) => [uuid, { result: 'ok' }])) },
    ]);
    expect(Object.keys(response.json.results)).toEqual(events.map(({ uuid }) => uuid));
    expect(response.headers.get('posthog-request-id')).toBe(requestId);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('retry-after')).toBeNull();
    expect((await reader.events(token, 2)).map(({ uuid }) => uuid)).toEqual(events.map(({ uuid }) => uuid));
  });

  test('restores properties that the client moved out of `properties`', async () => {
    const { token } = await createTestTenant(fixture.database);
    const sent = event({
      distinct_id: ' u-1 ',
      session_id: 's1',
      window_id: 'w1',
      options: { process_person_profile: false, product_tour_id: 't1', disable_skew_correction: null },
      properties: { total: 42, $set: { a: 1 }, $groups: { company: 'acme' } },
    });
    await send({ token, body: batchOf(sent) });
    const [stored] = await reader.events(token, 1);
    expect(stored).toMatchObject({ uuid: sent.uuid, event: 'order placed', distinct_id: 'u-1' });
    expect(stored?.properties).toEqual({
      $lib: 'posthog-test',
      $lib_version: '1.2.3',
      total: 42,
      $set: { a: 1 },
      $groups: { company: 'acme' },
      $session_id: 's1',
      $window_id: 'w1',
      $process_person_profile: false,
      $product_tour_id: 't1',
    });
  });

  test("corrects for the client's clock with the time of the attempt, unless an event disables this", async () => {
    const { token } = await createTestTenant(fixture.database);
    const slow = new Date(Date.now() - 3_600_000).toISOString();
    const kept = event({ event: 'kept', timestamp: slow, options: { disable_skew_correction: true } });
    const body = batchOf(event({ event: 'corrected', timestamp: slow }), kept);
    await send({ token, headers: { 'posthog-request-timestamp': slow }, body });
    const [corrected, asSent] = await reader.events(token, 2);
    expect(Math.abs(Date.parse(corrected?.timestamp ?? '') - Date.now())).toBeLessThan(60_000);
    expect(asSent?.timestamp).toBe(slow);
  });

  test('writes a historical batch to the historical topic', async () => {
    const { token } = await createTestTenant(fixture.database, { plan: 'full' });
    const body = { ...batchOf(event()), historical_migration: true };
    expect(await send({ token, body })).toMatchObject({ status: 200 });
    expect(await reader.records(token, 1)).toMatchObject([{ topic: fixture.topics.historical, key: token }]);
  });

  test.each<[string, string, (text: string) => Uint8Array]>([
    ['gzip', 'body', (text) => zlib.gzipSync(text)],
    ['deflate', 'body', (text) => zlib.deflateSync(text)],
    ['br', 'body', (text) => zlib.brotliCompressSync(text)],
    ['gzip', 'body that a proxy has decompressed', (text) => Buffer.from(text)],
  ])('accepts Content-Encoding %s with a %s', async (encoding, _, encode) => {
    const sent = event();
    const body = encode(JSON.stringify(batchOf(sent)));
    const response = await send({ headers: { 'content-encoding': encoding }, body });
    expect([response.status, response.json]).toEqual([200, { results: { [sent.uuid]: { result: 'ok' } } }]);
  });
});

test.each([
  ['a small batch', 10],
  ['a large batch', 300_000],
])("converts PHP's empty arrays to objects: %s", async (_size, bytes) => {
  const { token } = await createTestTenant(fixture.database);
  const properties = { $groups: [], $group_set: [], list: [], filler: 'x'.repeat(bytes) };
  expect(await send({ token, body: batchOf(event({ properties })) })).toMatchObject({ status: 200 });
  const [stored] = await reader.events(token, 1);
  expect(stored?.properties).toMatchObject({ $groups: {}, $group_set: {}, list: [] });
});

describe('dropping one event of a Capture v1 batch', () => {
  const long = 'x'.repeat(201);
  test.each<[string, object]>([
    ['missing_event_name', { event: '' }],
    ['missing_event_name', { event: null }],
    ['event_name_too_long', { event: long }],
    ['missing_distinct_id', { distinct_id: ' ' }],
    ['missing_distinct_id', { distinct_id: undefined }],
    ['invalid_distinct_id', { distinct_id: 7 }],
    ['distinct_id_too_large', { distinct_id: long }],
    ['invalid_event_timestamp', { timestamp: 'yesterday' }],
    ['invalid_event_timestamp', { timestamp: undefined }],
    ['malformed_event_properties', { properties: [] }],
    ['malformed_event_properties', { properties: { $set: 'text' } }],
    ['malformed_event_properties', { properties: { a: JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`) } }],
    ['invalid_options', { options: { process_person_profile: 'perhaps' } }],
    ['invalid_options', { options: 'none' }],
    ['performance_event', { event: '$performance_event' }],
    ['message_size_too_large', { properties: { a: 'x'.repeat(1_100_000) } }],
  ])('%s (%#)', async (details, fault) => {
    const counted = (cause: string) => measured(gateway, 'capture_events_dropped_total', { cause });
    const countedBefore = await counted(details);
    const timestamp = (fault as { timestamp?: string }).timestamp ?? null;
    const { token } = await createTestTenant(fixture.database);
    const [before, faulty, after] = [event({ event: 'before' }), event(fault), event({ event: 'after' })];
    const response = await send({ token, body: batchOf(before, faulty, after) });
    expect([response.status, response.json]).toEqual([
      200,
      {
        results: {
          [before.uuid]: { result: 'ok' },
          [faulty.uuid]: { result: 'drop', details },
          [after.uuid]: { result: 'ok' },
        },
      },
    ]);
    expect((await reader.events(token, 2)).map(({ event: name }) => name)).toEqual(['before', 'after']);
    // The project gets a warning, as on the other paths. Performance events are dropped intentionally, without a
    // warning.
    const sample = { index: 1, uuid: faulty.uuid, ...(details === 'invalid_event_timestamp' ? { timestamp } : {}) };
    const warnings = details === 'performance_event' ? 0 : 1;
    expect(await reader.warnings(token, warnings)).toMatchObject(
      [{ type: details, count: 1, details: { samples: [sample] } }].slice(0, warnings),
    );
    expect(await counted(details)).toBe(countedBefore + 1);
  });

  test('returns results and records warnings even if all events are invalid', async () => {
    const { token } = await createTestTenant(fixture.database);
    const faulty = event({ event: '' });
    const response = await send({ token, body: batchOf(faulty) });
    expect([response.status, response.json]).toEqual([
      200,
      { results: { [faulty.uuid]: { result: 'drop', details: 'missing_event_name' } } },
    ]);
    expect(await reader.warnings(token, 1)).toMatchObject([
      { type: 'missing_event_name', count: 1, details: { samples: [{ index: 0, uuid: faulty.uuid }] } },
    ]);
  });
});

describe('rejecting a whole Capture v1 request', () => {
  const twice = randomUUID();
  test.each<[number, string, Sending]>([
    [405, 'method_not_allowed', { method: 'PUT', body: {} }],
    [401, 'missing_authorization', { headers: { authorization: null } }],
    [401, 'missing_authorization', { headers: { authorization: 'Basic eDp5' } }],
    [401, 'invalid_api_token', { headers: { authorization: 'Bearer phc_nobody' } }],
    [401, 'invalid_api_token', { headers: { authorization: 'Bearer phx_personal' } }],
    ...['posthog-sdk-info', 'posthog-attempt', 'posthog-request-id', 'posthog-request-timestamp'].map(
      (name): [number, string, Sending] => [400, 'missing_required_headers', { headers: { [name]: null } }],
    ),
    [400, 'invalid_header_value', { headers: { 'posthog-attempt': '0' } }],
    [400, 'invalid_header_value', { headers: { 'posthog-request-id': 'one' } }],
    [400, 'invalid_header_value', { headers: { 'posthog-request-timestamp': 'now' } }],
    [400, 'invalid_header_value', { headers: { 'posthog-sdk-info': 'nameless' } }],
    [415, 'unsupported_content_type', { headers: { 'content-type': 'text/plain' } }],
    [415, 'unsupported_encoding', { headers: { 'content-encoding': 'lz64' } }],
    [400, 'request_decoding_error', { headers: { 'content-encoding': 'gzip' }, body: 'plain' }],
    [
      400,
      'request_decoding_error',
      { headers: { 'content-encoding': 'br' }, body: zlib.brotliCompressSync('{}').subarray(1) },
    ],
    [400, 'request_decoding_error', { body: new Uint8Array([0xff, 0xfe, 0x00]) }],
    [400, 'empty_body', { body: '' }],
    [400, 'request_parsing_error', { body: '{"batch":' }],
    [400, 'request_parsing_error', { body: '[]' }],
    [400, 'invalid_batch', { body: { created_at: 'now', batch: [event()] } }],
    [400, 'invalid_batch', { body: { batch: {} } }],
    [400, 'invalid_batch', { body: batchOf('event') }],
    [400, 'invalid_batch', { body: { ...batchOf(event()), historical_migration: 'yes' } }],
    [400, 'empty_batch', { body: batchOf() }],
    [400, 'missing_event_uuid', { body: batchOf(event({ uuid: '' })) }],
    [400, 'invalid_event_uuid', { body: batchOf(event({ uuid: 'one' })) }],
    [400, 'duplicate_event_uuid', { body: batchOf(event({ uuid: twice }), event({ uuid: twice.toUpperCase() })) }],
    [
      400,
      'duplicate_event_uuid',
      { body: batchOf(event({ uuid: twice.replaceAll('-', '') }), event({ uuid: twice.toUpperCase() })) },
    ],
  ])('%i %s (%#)', async (status, error, sending) => {
    const response = await send({ body: batchOf(event()), ...sending });
    expect([response.status, response.json]).toEqual([
      status,
      { error, error_description: expect.any(String), error_uri: 'about:blank' },
    ]);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    if (status === 405) expect(response.headers.get('allow')).toBe('POST, OPTIONS');
  });

  test('rejects GET on the Capture v1 path', async () => {
    expect(await send({ method: 'GET' })).toMatchObject({ status: 405, json: { error: 'method_not_allowed' } });
  });

  test('returns 402 for a historical migration that the plan does not include', async () => {
    const { token } = await createTestTenant(fixture.database, { plan: 'free' });
    const body = { ...batchOf(event()), historical_migration: true };
    expect(await send({ token, body })).toMatchObject({
      status: 402,
      json: { error: 'payment_required' },
    });
  });

  test('returns 413 for a request that is too large, and 500 if the log does not acknowledge the events', async () => {
    const small = await fixture.startGateway({ config: { maxBodyBytes: 100, maxDecompressedBytes: 5000 } });
    const large = batchOf(event({ properties: { a: 'x'.repeat(10_000) } }));
    const tooLarge = { status: 413, json: { error: 'payload_too_large' } };
    expect(await send({ at: small, body: large })).toMatchObject(tooLarge);
    const bomb = zlib.brotliCompressSync(JSON.stringify(large));
    const roomy = await fixture.startGateway({ config: { maxDecompressedBytes: 5000 } });
    expect(await send({ at: roomy, body: bomb, headers: { 'content-encoding': 'br' } })).toMatchObject(tooLarge);
    const dead = await fixture.startGateway({ log: { append: () => Promise.reject(new Error('gone')) } });
    const failed = await send({ at: dead, body: batchOf(event()) });
    expect(failed).toMatchObject({ status: 500, json: { error: 'internal_error' } });
    expect(failed.headers.get('retry-after')).toBe('1');
  });

  test('returns 408 for a stalled upload', async () => {
    const impatient = await fixture.startGateway({ config: { bodyTimeoutMs: 100 } });
    const connection = await openRawConnection(impatient.port);
    connection.write(
      [
        'POST /i/v1/analytics/events HTTP/1.1',
        'Host: x',
        `Authorization: Bearer ${common.token}`,
        'Content-Type: application/json',
        'Content-Length: 1000',
        'User-Agent: test/1',
        'PostHog-Sdk-Info: posthog-test/1.2.3',
        'PostHog-Attempt: 1',
        `PostHog-Request-Id: ${requestId}`,
        `PostHog-Request-Timestamp: ${new Date().toISOString()}`,
        '',
        '{"created_at":',
      ].join('\r\n'),
    );
    const { status, headers, body } = await connection.response();
    expect([status, JSON.parse(body).error]).toEqual([408, 'body_read_timeout']);
    expect(headers).toMatchObject({ 'retry-after': '1', 'posthog-request-id': requestId });
    connection.socket.destroy();
  });

  test('returns 503 while the log cannot be reached', async () => {
    const away = () => Promise.reject(new AppError('unavailable', 'The event log does not respond.'));
    const cut = await fixture.startGateway({ log: { append: away } });
    const response = await send({ at: cut, body: batchOf(event()) });
    expect([response.status, response.json.error]).toEqual([503, 'service_unavailable']);
    expect(response.headers.get('retry-after')).toBe('1');
  });

  test('accepts zstd if Node.js supports it, and otherwise returns an error that names it', async () => {
    const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string | Buffer) => Uint8Array };
    const headers = { 'content-encoding': 'zstd' };
    const text = JSON.stringify(batchOf(event()));
    const bomb = Buffer.alloc(110 * 1024 * 1024);
    const isKnown = zstdCompressSync !== undefined;
    const responses = await Promise.all(
      [text, bomb].map((body) => send({ headers, body: zstdCompressSync?.(body) ?? text })),
    );
    expect(responses.map(({ status, json }) => [status, json.error])).toEqual([
      isKnown ? [200, undefined] : [415, 'unsupported_encoding'],
      isKnown ? [413, 'payload_too_large'] : [415, 'unsupported_encoding'],
    ]);
  });

  test('the response to OPTIONS allows everything that a page requests', async () => {
    const response = await fetch(`${gateway.url}/i/v1/analytics/events`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-headers': 'posthog-attempt' },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-headers')).toBe('posthog-attempt');
  });
});
