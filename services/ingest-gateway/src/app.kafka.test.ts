import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import lzString from 'lz-string';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from './testing/test-gateway.ts';
import { readTopics, type TopicReader } from './testing/topic-reader.ts';

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

const newProject = (plan: 'free' | 'full' = 'full'): Promise<TestTenant> =>
  createTestTenant(fixture.database, { plan });
const event = (name = 'a', distinctId = 'b') => ({ event: name, distinct_id: distinctId, properties: { p: 1 } });

async function send(path: string, init: RequestInit & { json?: unknown } = {}) {
  const { json, ...rest } = init;
  const body = json === undefined ? rest.body : JSON.stringify(json);
  const response = await fetch(gateway.url + path, { method: 'POST', ...rest, ...(body ? { body } : {}) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}
const ok = { status: 200, text: '{"status":"Ok"}' };

describe('body-001, body-004 every capture path accepts an event, a batch and an array, with and without a trailing slash', () => {
  const paths = ['/capture', '/batch', '/e', '/i/v0/e', '/track', '/engage'].flatMap((path) => [path, `${path}/`]);

  test.each(paths)('%s', async (path) => {
    const { token } = await newProject();
    expect(await send(path, { json: { api_key: token, ...event('single') } })).toMatchObject(ok);
    expect(await send(path, { json: { token, batch: [event('b1'), event('b2')] } })).toMatchObject(ok);
    const inProperties = { event: 'array', properties: { token, distinct_id: 'b' } };
    expect(await send(path, { json: [inProperties] })).toMatchObject(ok);
    const events = await reader.events(token, 4);
    expect(events.map(({ event }) => event)).toEqual(['single', 'b1', 'b2', 'array']);
  });
});

test("topic-001 writes a record with the event's topic, key and value", async () => {
  const { token, environmentId } = await newProject();
  const uuid = randomUUID();
  const before = Date.now();
  const body = { api_key: token, ...event(), uuid: uuid.toUpperCase(), $set: { email: 'x' } };
  await send('/capture/', { json: body, headers: { 'x-forwarded-for': '203.0.113.7:1234' } });
  const [record] = await reader.records(token, 1);
  expect(record).toMatchObject({ topic: fixture.topics.live, key: `${token}:b` });
  expect(record?.value).toEqual({
    kind: 'event',
    uuid,
    token,
    environment_id: environmentId,
    distinct_id: 'b',
    event: 'a',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    now: expect.any(String),
    ip: '203.0.113.7',
    $set: { email: 'x' },
    properties: { p: 1 },
  });
  expect(Date.parse(record?.value.now ?? '')).toBeGreaterThanOrEqual(before);
});

test.each([
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', true],
  ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', false],
  ['ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', false],
  ['\t', false],
])('forwards the traceparent %j in the record headers: %s', async (traceparent, isCarried) => {
  const { token } = await newProject();
  expect(await send('/capture', { json: { api_key: token, ...event() }, headers: { traceparent } })).toMatchObject(ok);
  const [record] = await reader.records(token, 1);
  expect(record?.headers).toEqual(isCarried ? { traceparent } : {});
});

test('field-014 generates a version 7 UUID for an event without one', async () => {
  const { token } = await newProject();
  await send('/capture', { json: { api_key: token, ...event() } });
  const [stored] = await reader.events(token, 1);
  expect(stored?.uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
});

test("keeps one person's events in order", async () => {
  const { token } = await newProject();
  const names = Array.from({ length: 200 }, (_, index) => `e${index}`);
  await send('/batch/', { json: { api_key: token, batch: names.slice(0, 100).map((name) => event(name)) } });
  await send('/batch/', { json: { api_key: token, batch: names.slice(100).map((name) => event(name)) } });
  expect((await reader.events(token, 200)).map((stored) => stored.event)).toEqual(names);
});

describe('decoding request bodies', () => {
  const form = 'application/x-www-form-urlencoded';
  const asJson = (token: string) => JSON.stringify({ api_key: token, ...event('decoded 🎉') });
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  test.each<[string, string, (json: string) => string | Uint8Array, Record<string, string>]>([
    ['body-005 base64 as text/plain', '/e/', base64, { 'content-type': 'text/plain' }],
    ['body-006 base64 on /batch', '/batch/', base64, {}],
    [
      'body-007 gzip by query',
      '/i/v0/e/?compression=gzip-js&ver=1.2&_=1',
      (j) => gzipSync(j),
      { 'content-type': 'text/plain' },
    ],
    [
      'body-007 gzip by header',
      '/batch/',
      (j) => gzipSync(j),
      { 'content-encoding': 'gzip', 'content-type': 'application/json' },
    ],
    ['body-008 gzip without a hint', '/e/', (j) => gzipSync(j), { 'content-type': 'text/plain' }],
    ['body-011 form', '/e/', (j) => `data=${encodeURIComponent(j)}`, { 'content-type': form }],
    [
      'body-012 form with base64',
      '/e/?compression=base64',
      (j) => `data=${encodeURIComponent(base64(j))}`,
      { 'content-type': form },
    ],
    [
      'body-013 form with lz64',
      '/e/',
      (j) => `compression=lz64&data=${encodeURIComponent(lzString.compressToBase64(j))}`,
      { 'content-type': form },
    ],
    ['body-016 JSON declared as a form', '/capture/', (j) => j, { 'content-type': form }],
  ])('%s', async (_name, path, encode, headers) => {
    const { token } = await newProject();
    expect(await send(path, { body: encode(asJson(token)) as string, headers })).toMatchObject(ok);
    expect(await reader.events(token, 1)).toMatchObject([{ event: 'decoded 🎉', distinct_id: 'b' }]);
  });

  test.each([
    ['JSON', (json: string) => encodeURIComponent(json)],
    ['base64 without padding', (json: string) => encodeURIComponent(base64(json).replace(/=+$/, ''))],
  ])('body-018 accepts GET with %s in the query', async (_name, encode) => {
    const { token } = await newProject();
    expect(await send(`/e/?data=${encode(asJson(token))}`, { method: 'GET' })).toMatchObject(ok);
    expect(await reader.events(token, 1)).toHaveLength(1);
  });
});

test('stores NaN and infinities, which older Python SDKs send, as null', async () => {
  const { token } = await newProject();
  const properties = '{"ratio":NaN,"most":Infinity,"least":-Infinity,"said":"NaN, -Infinity","kept":12}';
  const body = `{"api_key":"${token}","batch":[{"event":"a","distinct_id":"b","properties":${properties}}]}`;
  expect(await send('/batch/', { body })).toMatchObject(ok);
  const [stored] = await reader.events(token, 1);
  expect(stored?.properties).toEqual({ ratio: null, most: null, least: null, said: 'NaN, -Infinity', kept: 12 });
});

test('time-014 parses times in every format that clients send, including numbers', async () => {
  const { token } = await newProject();
  const at = '2026-11-21T11:00:00.000Z';
  const ms = Date.parse(at);
  const written = [ms, ms / 1000, String(ms), String(ms / 1000), '20261121T110000Z', '2026-W47-6T11:00:00Z'];
  const timestamps = [...written, 'Sat Nov 21 2026 12:00:00 GMT+0100 (CET)', '2026-325T11:00:00Z'];
  const batch = timestamps.map((timestamp) => ({ ...event(), timestamp }));
  expect(await send('/batch/', { json: { api_key: token, batch } })).toMatchObject(ok);
  expect((await reader.events(token, batch.length)).map(({ timestamp }) => timestamp)).toEqual(batch.map(() => at));
});

describe('error status, code and field', () => {
  test.each<[string, string, RequestInit & { json?: unknown }, number, object]>([
    ['body-020 no body', '/capture/', {}, 400, { type: 'validation_error', code: 'no_data', attr: null }],
    ['body-020 GET without data', '/e/?data=', { method: 'GET' }, 400, { code: 'no_data' }],
    [
      'body-020 broken JSON',
      '/capture/',
      { body: '{\n  "a": 1,\n}' },
      400,
      {
        type: 'validation_error',
        code: 'invalid_json',
        detail: 'The body is not valid JSON: unexpected character at line 3, column 1.',
      },
    ],
    ['body-010 broken gzip', '/e/?compression=gzip', { body: 'xx' }, 400, { code: 'invalid_gzip' }],
    [
      'body-022 an empty batch',
      '/batch/',
      { json: { api_key: 'phc_x', batch: [] } },
      400,
      { code: 'no_events', attr: 'batch' },
    ],
    [
      'field-016 wrong properties',
      '/batch/',
      { json: { api_key: 'phc_x', batch: [{ event: '' }, { ...event(), properties: 'x' }] } },
      400,
      { type: 'validation_error', code: 'invalid_payload', attr: 'batch__1__properties' },
    ],
    [
      'token-001 no key',
      '/capture/',
      { json: event() },
      401,
      { type: 'authentication_error', code: 'missing_api_key', attr: 'api_key' },
    ],
    ['token-002 a batch without a key', '/batch/', { json: { batch: [event()] } }, 401, { code: 'missing_api_key' }],
    [
      'token-003 a personal API key',
      '/capture/',
      { json: { api_key: 'phx_a', ...event() } },
      401,
      { code: 'personal_api_key' },
    ],
    [
      'token-015 an unknown key',
      '/capture/',
      { json: { api_key: 'phc_unknown', ...event() } },
      401,
      { type: 'authentication_error', code: 'invalid_api_key' },
    ],
    [
      'token-016 a key in the header only',
      '/capture/',
      { json: event(), headers: { authorization: 'Bearer phc_x' } },
      401,
      { code: 'missing_api_key' },
    ],
    ['body-037 PUT', '/capture', { method: 'PUT', body: 'x' }, 405, { code: 'method_not_allowed' }],
    ['body-037 DELETE', '/batch/', { method: 'DELETE' }, 405, { code: 'method_not_allowed' }],
    ['body-037 an unknown path', '/nope', { json: event() }, 404, { code: 'not_found' }],
  ])('%s', async (_name, path, init, status, body) => {
    const response = await send(path, { ...init, headers: { ...init.headers, origin: 'https://app.example' } });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(JSON.parse(response.text)).toMatchObject(body);
    expect(Object.keys(JSON.parse(response.text))).toEqual(['type', 'code', 'detail', 'attr']);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(response.headers.get('access-control-allow-credentials')).toBe('true');
  });

  test('body-036 web pages can read error responses', async () => {
    const response = await send('/capture', { method: 'PUT', body: 'x', headers: { origin: 'https://app.example' } });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
      405,
      'https://app.example',
    ]);
  });

  test('token-015 rejects many unknown keys at the same time', async () => {
    const sent = Array.from({ length: 200 }, (_, index) =>
      send('/capture/', { json: { api_key: `phc_of_nobody_${index}`, ...event() } }),
    );
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 401 && status !== 503)).toEqual([]);
  });

  test('returns 405 for HEAD on a capture path', async () => {
    const response = await send('/capture', { method: 'HEAD' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, POST, OPTIONS');
  });

  test('stores no event of a request that fails', async () => {
    const { token } = await newProject();
    const json = { api_key: token, batch: [event('good')], historical_migration: 'yes' };
    expect((await send('/batch/', { json })).status).toBe(400);
    await send('/capture/', { json: { api_key: token, ...event('after') } });
    expect((await reader.events(token, 1)).map((stored) => stored.event)).toEqual(['after']);
  });
});

describe('dropped events', () => {
  test("field-001, field-002, field-003, body-034 stores a batch's other events, and reports the dropped ones", async () => {
    const { token } = await newProject();
    const batch = [event('one'), { distinct_id: 'b' }, { event: 'x', distinct_id: ' ' }, event('two'), { event: '' }];
    expect(await send('/batch/', { json: { api_key: token, batch } })).toMatchObject(ok);
    const warnings = await reader.warnings(token, 2);
    expect(warnings.map(({ type, count }) => [type, count]).sort()).toEqual([
      ['missing_distinct_id', 1],
      ['missing_event_name', 2],
    ]);
    expect((await reader.events(token, 2)).map((stored) => stored.event)).toEqual(['one', 'two']);
  });

  test('time-007, time-009 stores and reports an event with an invalid time, and drops one that is nested too deeply', async () => {
    const { token } = await newProject();
    const deep = JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`);
    const batch = [
      { ...event('unreadable'), timestamp: 'yesterday' },
      { ...event('ahead'), timestamp: '9000-01-01T00:00:00Z' },
      { ...event('deep'), properties: deep },
      event('fine'),
    ];
    expect(await send('/batch/', { json: { api_key: token, batch } })).toMatchObject(ok);
    const warnings = await reader.warnings(token, 3);
    expect(warnings.map(({ type, count }) => [type, count]).sort()).toEqual([
      ['event_timestamp_in_future', 1],
      ['ignored_invalid_timestamp', 1],
      ['malformed_event_properties', 1],
    ]);
    expect((await reader.events(token, 3)).map((stored) => stored.event)).toEqual(['unreadable', 'ahead', 'fine']);
  });

  test.each([
    ['a small request', 10],
    ['a large request', 400_000],
  ])('time-010 reports an invalid send time for the events that it affects: %s', async (_name, bytes) => {
    const { token } = await newProject();
    const filler = { properties: { filler: 'x'.repeat(bytes) } };
    const timestamp = '2026-11-20T08:00:00.000Z';
    const batch = [
      { ...event('timed'), ...filler, timestamp },
      event('timeless'),
      { ...event('also timed'), timestamp },
    ];
    expect(await send('/batch/', { json: { api_key: token, batch, sent_at: 'a minute ago' } })).toMatchObject(ok);
    const [warning] = await reader.warnings(token, 1);
    expect(warning).toMatchObject({ type: 'ignored_invalid_timestamp', count: 2 });
    const sample = { uuid: expect.any(String), sent_at: 'a minute ago' };
    expect(warning?.details).toEqual({
      ...{ path: '/batch', user_agent: 'node' },
      samples: [
        { index: 0, event: 'timed', ...sample },
        { index: 2, event: 'also timed', ...sample },
      ],
    });
    const events = await reader.events(token, 3);
    expect(events.filter(({ event }) => event !== 'timeless').map((stored) => stored.timestamp)).toEqual([
      timestamp,
      timestamp,
    ]);
    const fromQuery = { json: { api_key: token, batch, sent_at: 'a minute ago' } };
    expect(await send(`/batch/?_=${Date.now()}`, fromQuery)).toMatchObject(ok);
    await reader.events(token, 6);
    expect(await reader.warnings(token, 1)).toHaveLength(1);
  });

  test('body-034 returns 200 if all events are dropped', async () => {
    const { token } = await newProject();
    expect(await send('/e/', { json: { api_key: token, distinct_id: 'b' } })).toMatchObject(ok);
    expect(await reader.warnings(token, 1)).toMatchObject([{ type: 'missing_event_name', count: 1 }]);
  });

  test('field-024 counts and drops performance events without a warning', async () => {
    const { token } = await newProject();
    const json = { api_key: token, batch: [event('$performance_event'), event('kept')] };
    expect(await send('/batch/', { json })).toMatchObject(ok);
    expect((await reader.records(token, 1)).map(({ value }) => value.kind)).toEqual(['event']);
    const figures = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(figures).toMatch(/millrace_capture_events_dropped_total\{cause="performance_event"\} 1/);
  });

  test('field-023 stores a NUL and a lone surrogate as U+FFFD', async () => {
    const { token } = await newProject();
    const body = `{"api_key":"${token}","event":"a","distinct_id":"b","properties":{"nul":"x\\u0000","half":"\\ud83d"}}`;
    expect(await send('/capture/', { body })).toMatchObject(ok);
    expect((await reader.events(token, 1))[0]?.properties).toEqual({ nul: 'x\ufffd', half: '\ufffd' });
  });

  test('topic-017 drops an event that is too large for the log, and rejects the request if it is the only event', async () => {
    const { token } = await newProject();
    const huge = { ...event('huge'), properties: { p: 'x'.repeat(1_010_000) } };
    expect(await send('/batch/', { json: { api_key: token, batch: [event('small'), huge] } })).toMatchObject(ok);
    expect(await reader.warnings(token, 1)).toMatchObject([{ type: 'message_size_too_large', count: 1 }]);
    const alone = await send('/batch/', { json: { api_key: token, batch: [huge] } });
    expect([alone.status, JSON.parse(alone.text).code]).toEqual([413, 'event_too_large']);
    expect(await reader.warnings(token, 2)).toMatchObject([
      { type: 'message_size_too_large', count: 1 },
      { type: 'message_size_too_large', count: 1, details: { path: '/batch', samples: [{ index: 0, event: 'huge' }] } },
    ]);
  });

  test('topic-017 stores an event of 1,000,000 bytes, alone and in a batch', async () => {
    const { token } = await newProject();
    const large = { ...event('large'), properties: { p: '' } };
    large.properties.p = 'x'.repeat(1_000_000 - JSON.stringify(large).length);
    expect(await send('/batch/', { json: { api_key: token, batch: [event('small'), large] } })).toMatchObject(ok);
    expect((await reader.events(token, 2)).map(({ event: name }) => name).sort()).toEqual(['large', 'small']);
  });

  test('topic-017 stores an AI event of 8 MiB, and rejects a batch with a larger event', async () => {
    const { token } = await newProject();
    const sized = (name: string, bytes: number) => {
      const one = { ...event(name), properties: { $ai_input: '' } };
      one.properties.$ai_input = 'x'.repeat(bytes - JSON.stringify(one).length);
      return one;
    };
    const path = '/i/v0/ai/batch/';
    const batch = [sized('prompt', 1_200_000), sized('$ai_generation', 8 * 1024 * 1024)];
    expect(await send(path, { json: { api_key: token, batch } })).toMatchObject(ok);
    const stored = await reader.events(token, 2);
    expect(stored.map(({ event: name }) => name).sort()).toEqual(['$ai_generation', 'prompt']);

    const refused = await send(path, { json: { api_key: token, batch: [event('small'), sized('huge', 8_500_000)] } });
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([413, 'event_too_large']);
  });
});

describe('historical migration', () => {
  test('topic-002 writes migrated events to the historical topic, with one key for the project', async () => {
    const { token } = await newProject('full');
    const batch = [event('a', 'p1'), event('b', 'p2'), event('c', 'p3')];
    expect(await send('/batch/', { json: { api_key: token, batch, historical_migration: true } })).toMatchObject(ok);
    const records = await reader.records(token, 3);
    expect(records.map(({ topic, key }) => [topic, key])).toEqual(batch.map(() => [fixture.topics.historical, token]));
    expect(records.map(({ value }) => value.kind === 'event' && [value.event, value.historical_migration])).toEqual([
      ['a', true],
      ['b', true],
      ['c', true],
    ]);
  });

  test('rejects a historical migration if the plan does not include it', async () => {
    const { token } = await newProject('free');
    const response = await send('/batch/', { json: { api_key: token, batch: [event()], historical_migration: true } });
    expect(response.status).toBe(402);
    expect(JSON.parse(response.text)).toMatchObject({ code: 'payment_required', attr: 'historical_migration' });
    expect(await send('/batch/', { json: { api_key: token, batch: [event()] } })).toMatchObject(ok);
  });
});

test("time-002, time-011 corrects for the client's clock with sent_at or the time in the query", async () => {
  const { token } = await newProject();
  const hourAgo = Date.now() - 3_600_000;
  const iso = (ms: number) => new Date(ms).toISOString();
  const skewed = { ...event('batch'), timestamp: iso(hourAgo - 5000) };
  await send('/batch/', { json: { api_key: token, batch: [skewed], sent_at: iso(hourAgo) } });
  await send(`/e/?_=${hourAgo}`, { json: [{ ...skewed, event: 'query', token }] });
  for (const { timestamp, now } of await reader.events(token, 2)) {
    const secondsBefore = (Date.parse(now) - Date.parse(timestamp)) / 1000;
    expect(secondsBefore).toBeGreaterThan(4);
    expect(secondsBefore).toBeLessThan(65);
  }
});

test('body-026 returns an empty body to a beacon', async () => {
  const { token } = await newProject();
  const json = { api_key: token, ...event() };
  expect(await send('/e/?beacon=1', { json })).toMatchObject({ status: 204, text: '' });
  expect(await send('/e/?beacon=0', { json })).toMatchObject(ok);
  expect(await send('/e/?beacon=true', { json })).toMatchObject(ok);
});

describe('CORS headers', () => {
  test.each(['/e/', '/nope', '/'])('body-035 allows everything that the preflight of %s requests', async (path) => {
    const headers = {
      origin: 'null',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,baggage',
    };
    const response = await send(path, { method: 'OPTIONS', headers });
    expect(response).toMatchObject({ status: 200, text: '' });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': 'null',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET,POST,OPTIONS',
      'access-control-allow-headers': 'content-type,baggage',
      vary: expect.stringContaining('origin'),
    });
  });

  test('adds CORS headers to successful responses', async () => {
    const { token } = await newProject();
    const response = await send('/e/', {
      json: { api_key: token, ...event() },
      headers: { origin: 'https://a.example' },
    });
    expect(response.headers.get('access-control-allow-origin')).toBe('https://a.example');
  });
});

test("uses the client's request ID if it is harmless, and generates a new one otherwise", async () => {
  const idFor = async (id: string) =>
    (await send('/e/', { headers: { 'x-request-id': id } })).headers.get('x-request-id');
  expect(await idFor('abc-123:x.y')).toBe('abc-123:x.y');
  expect(await idFor('a b')).toMatch(/^[0-9a-f]{12}-\w+$/);
});

test.each(['/', '/_liveness', '/_readiness', '/metrics'])('GET %s responds to health probes', async (path) => {
  expect((await send(path, { method: 'GET' })).status).toBe(200);
});
