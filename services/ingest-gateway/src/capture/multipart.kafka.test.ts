import { gzipSync } from 'node:zlib';
import { createTestTenant } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { measured } from '../testing/traffic-probe.ts';

/** Tests events that are sent as forms with a part for each large property (`POST /i/v0/ai`). */
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

const newKey = async () => (await createTestTenant(fixture.database)).token;

interface SentPart {
  name: string;
  body: string | Uint8Array;
  type?: string;
}
const json = (name: string, value: unknown): SentPart => ({
  name,
  body: JSON.stringify(value),
  type: 'application/json',
});
const generation = { event: '$ai_generation', distinct_id: 'u-1' };
const boundary = 'AaB03x-Boundary';

function toBody(parts: SentPart[]): Buffer {
  const pieces = parts.flatMap(({ name, body, type }) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="blob"\r\n`),
    Buffer.from(`${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`),
    Buffer.from(body),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

interface Sending {
  at?: TestGateway;
  path?: string;
  key?: string | null;
  headers?: Record<string, string>;
}
async function send(body: Buffer, { at = gateway, path = '/i/v0/ai', key = null, headers = {} }: Sending) {
  const response = await fetch(at.url + path, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      origin: 'https://app.example',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
  });
  const content = (await response.json()) as { status?: string; code?: string; attr?: string; detail?: string };
  return { status: response.status, headers: response.headers, content };
}
const inFlightBytes = async ({ metrics }: TestGateway) =>
  /^millrace_capture_in_flight_bytes (\d+)/m.exec(await metrics.registry.metrics())?.[1];

test('stores an event that was sent as a multipart body', async () => {
  const key = await newKey();
  const uuid = '0198c2a4-0000-7000-8000-000000000001';
  const parts = [
    json('event', { ...generation, uuid, $set: { plan: 'pro' } }),
    json('event.properties', { $ai_model: 'm-1', $ai_input: null, tokens: 7, $ai_tools: [{ name: 'a' }] }),
    json('event.properties.$ai_input', [{ role: 'user', content: 'größe "🎉" \u0000' }]),
    { name: 'event.properties.$ai_output_choices[1].content', body: 'two\r\nlines', type: 'text/plain; charset=utf-8' },
    json('event.properties.$ai_tools[0].schema', { type: 'object' }),
    { name: 'event.properties.plain', body: 'no type' },
    { name: 'event.properties.octets', body: '{"a":1}', type: 'application/octet-stream' },
    { name: 'something.else', body: 'x' },
  ];
  const { status, content, headers } = await send(toBody(parts), { key, path: '/i/v0/ai/' });
  expect([status, content]).toEqual([200, { status: 'Ok' }]);
  expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
  const [stored] = await reader.events(key, 1);
  expect(stored).toMatchObject({ uuid, event: '$ai_generation', distinct_id: 'u-1', $set: { plan: 'pro' } });
  expect(stored?.properties).toEqual({
    $ai_model: 'm-1',
    tokens: 7,
    $ai_input: [{ role: 'user', content: 'größe "🎉" \ufffd' }],
    $ai_output_choices: [null, { content: 'two\r\nlines' }],
    $ai_tools: [{ name: 'a', schema: { type: 'object' } }],
    plain: 'no type',
    octets: '{"a":1}',
  });
  expect(await inFlightBytes(gateway)).toBe('0');
});

test("accepts a browser's form, with all properties and the API key in the event", async () => {
  const key = await newKey();
  const form = new FormData();
  form.append('event', JSON.stringify({ ...generation, api_key: key, properties: { a: 1 } }));
  form.append('event.properties.$ai_input', new Blob(['[1]'], { type: 'application/json' }));
  const response = await fetch(`${gateway.url}/i/v0/ai`, { method: 'POST', body: form });
  expect(response.status).toBe(200);
  expect((await reader.events(key, 1)).map(({ properties }) => properties)).toEqual([{ a: 1, $ai_input: [1] }]);
});

test('accepts a gzip-compressed multipart body, whether or not the encoding is declared', async () => {
  const key = await newKey();
  const body = gzipSync(toBody([json('event', generation), json('event.properties', { $ai_model: 'm' })]));
  expect(await send(body, { key, headers: { 'content-encoding': 'gzip' } })).toMatchObject({ status: 200 });
  expect(await send(body, { key })).toMatchObject({ status: 200 });
  expect(await reader.events(key, 2)).toHaveLength(2);
});

test('prefers an API key in the header to one in the event', async () => {
  const key = await newKey();
  const body = toBody([json('event', { ...generation, api_key: 'phc_nobody', properties: { token: 'phc_other' } })]);
  expect(await send(body, { key })).toMatchObject({ status: 200 });
  expect(await reader.events(key, 1)).toHaveLength(1);
});

test.each([
  ['small', 5_000],
  ['large, in a worker thread', 400_000],
])('%s: omits parts that are not text, and records a warning for the project', async (_size, bytes) => {
  const key = await newKey();
  const before = await measured(gateway, 'capture_parts_omitted_total');
  const parts = [
    json('event', generation),
    { name: 'event.properties.picture', body: new Uint8Array(bytes).fill(0xff), type: 'image/png' },
    { name: 'event.properties.sound[0]', body: new Uint8Array([0, 1, 2]), type: 'application/octet-stream' },
    { name: 'event.properties.text', body: 'kept', type: 'text/plain' },
  ];
  expect(await send(toBody(parts), { key })).toMatchObject({ status: 200 });
  const [stored] = await reader.events(key, 1);
  expect(stored?.properties).toEqual({
    picture: `[left out: image/png, ${bytes} bytes]`,
    sound: ['[left out: application/octet-stream, 3 bytes]'],
    text: 'kept',
  });
  const names = ['event.properties.picture', 'event.properties.sound[0]'];
  expect(await reader.warnings(key, 1)).toMatchObject([
    {
      type: 'part_left_out',
      count: 1,
      details: { samples: [{ index: 0, uuid: stored?.uuid, event: '$ai_generation', parts: names }] },
    },
  ]);
  expect(await measured(gateway, 'capture_parts_omitted_total')).toBe(before + 2);
  expect(await inFlightBytes(gateway)).toBe('0');
});

test('omits text that does not fit into a record, and stores the following parts that do', async () => {
  const key = await newKey();
  const parts = [
    json('event', { ...generation, properties: { $ai_model: 'm' } }),
    json('event.properties.first', 'a'.repeat(5_000_000)),
    json('event.properties.second', 'b'.repeat(5_000_000)),
    json('event.properties.third', 'c'.repeat(3_000_000)),
  ];
  expect(await send(toBody(parts), { key })).toMatchObject({ status: 200 });
  const [stored] = await reader.events(key, 1);
  expect(stored?.properties).toEqual({
    $ai_model: 'm',
    first: 'a'.repeat(5_000_000),
    second: '[left out: application/json, 5000002 bytes]',
    third: 'c'.repeat(3_000_000),
  });
});

test('stores parts named `__proto__` like any other part', async () => {
  const key = await newKey();
  const parts = [
    json('event', generation),
    { name: 'event.properties.__proto__.polluted', body: '1' },
    { name: 'event.properties.constructor.prototype.polluted', body: '1' },
  ];
  expect(await send(toBody(parts), { key })).toMatchObject({ status: 200 });
  const [stored] = await reader.events(key, 1);
  expect(JSON.stringify(stored?.properties)).toBe(
    '{"__proto__":{"polluted":"1"},"constructor":{"prototype":{"polluted":"1"}}}',
  );
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test('accepts NaN and infinities from Python, and empty arrays that PHP sends instead of objects', async () => {
  const key = await newKey();
  const parts = [
    json('event', { ...generation, properties: [] }),
    { name: 'event.properties.$ai_metrics', body: '{"score":NaN,"best":-Infinity}', type: 'application/json' },
    { name: 'event.properties.$groups', body: '[]', type: 'application/json' },
  ];
  expect(await send(toBody(parts), { key })).toMatchObject({ status: 200 });
  const [stored] = await reader.events(key, 1);
  expect(stored?.properties).toEqual({ $ai_metrics: { score: null, best: null }, $groups: {} });
});

test('drops a multipart event without a name or an ID, as on other paths', async () => {
  const key = await newKey();
  expect(await send(toBody([json('event', { distinct_id: 'u' })]), { key })).toMatchObject({ status: 200 });
  expect(await reader.warnings(key, 1)).toMatchObject([{ type: 'missing_event_name' }]);
});

const deep = JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`);
const event = json('event', generation);
const ends = Buffer.from(`\r\n--${boundary}--\r\n`);
test.each<[string, number, string, string | null, () => Buffer]>([
  ['no part `event`', 400, 'missing_part', 'event', () => toBody([json('event.properties', {})])],
  ['no parts', 400, 'missing_part', 'event', () => Buffer.from(`--${boundary}--\r\n`)],
  ['a repeated part', 400, 'duplicate_part', 'event', () => toBody([event, event])],
  [
    'repeated properties',
    400,
    'duplicate_part',
    'event.properties',
    () => toBody([json('event', { ...generation, properties: {} }), json('event.properties', {})]),
  ],
  ['an event that is not an object', 400, 'invalid_part', 'event', () => toBody([json('event', [generation])])],
  ['an event that is not JSON', 400, 'invalid_part', 'event', () => toBody([{ name: 'event', body: '{' }])],
  [
    'invalid properties',
    400,
    'invalid_part',
    'event.properties',
    () => toBody([event, json('event.properties', 'text')]),
  ],
  [
    'a blob declared as JSON that is not JSON',
    400,
    'invalid_part',
    'event.properties.$ai_input',
    () => toBody([event, { name: 'event.properties.$ai_input', body: '[1', type: 'application/json' }]),
  ],
  [
    'a separately compressed blob',
    400,
    'invalid_part',
    'event.properties.a',
    () => toBody([event, { name: 'event.properties.a', body: gzipSync('[1]'), type: 'application/json' }]),
  ],
  ...['a..b', 'a[x]', '[0]', 'a[1000]', '', Array(17).fill('a').join('.')].map(
    (path): [string, number, string, string, () => Buffer] => [
      `a name that leads nowhere: "${path}"`,
      400,
      'invalid_part',
      `event.properties.${path}`,
      () => toBody([event, { name: `event.properties.${path}`, body: 'x' }]),
    ],
  ),
  [
    'a name whose path contains a string',
    400,
    'invalid_part',
    'event.properties.a.b',
    () => toBody([event, json('event.properties', { a: 'text' }), { name: 'event.properties.a.b', body: 'x' }]),
  ],
  ['nesting', 400, 'too_deep', 'event.properties.a', () => toBody([event, json('event.properties.a', deep)])],
  [
    'a field of a wrong type',
    400,
    'invalid_payload',
    'uuid',
    () => toBody([json('event', { ...generation, uuid: 7 })]),
  ],
  ['a missing end', 400, 'invalid_multipart', null, () => toBody([event]).subarray(0, -20)],
  ['no multipart form', 400, 'invalid_multipart', null, () => Buffer.from('{"event":"e"}')],
  [
    'truncated part headers',
    400,
    'missing_part',
    'event',
    () => Buffer.concat([Buffer.from(`--${boundary}\r\nName`), ends]),
  ],
  [
    'too many parts',
    413,
    'too_many_parts',
    null,
    () => toBody([event, ...Array.from({ length: 300 }, (_, index) => json(`event.properties.p${index}`, 1))]),
  ],
  [
    'too many values',
    413,
    'too_many_values',
    null,
    () =>
      toBody([event, { name: 'event.properties.a', body: `[${'[],'.repeat(700_000)}1]`, type: 'application/json' }]),
  ],
  [
    'an event that is too large on its own',
    413,
    'event_too_large',
    null,
    () => toBody([event, json('event.properties', { a: 'x'.repeat(9_000_000) })]),
  ],
])('returns an error that names the invalid part: %s', async (_what, status, code, attr, body) => {
  const key = await newKey();
  const { status: actualStatus, content, headers } = await send(body(), { key });
  expect([actualStatus, content.code, content.attr]).toEqual([status, code, attr]);
  if (attr?.startsWith('event') && code !== 'invalid_payload') expect(content.detail).toContain(`\`${attr}\``);
  expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
  expect(await inFlightBytes(gateway)).toBe('0');
});

test('rejects a multipart request without a key, with an unknown key, or without a boundary', async () => {
  const body = toBody([event]);
  expect(await send(body, {})).toMatchObject({ status: 401, content: { code: 'missing_api_key' } });
  expect(await send(body, { key: 'phc_nobody' })).toMatchObject({ status: 401, content: { code: 'invalid_api_key' } });
  const large = toBody([event, json('event.properties.a', 'x'.repeat(400_000))]);
  expect(await send(large, { key: 'phc_nobody' })).toMatchObject({ status: 401 });
  const key = await newKey();
  const headers = { 'content-type': 'multipart/form-data' };
  expect(await send(body, { key, headers })).toMatchObject({ status: 400, content: { code: 'invalid_multipart' } });
});

test('counts the memory of multipart parts towards the byte budget', async () => {
  const key = await newKey();
  const small = await fixture.startGateway({ config: { maxInFlightBytes: 1024 * 1024 } });
  const body = toBody([event, json('event.properties.a', 'x'.repeat(800_000))]);
  expect(await send(body, { at: small, key })).toMatchObject({ status: 503, content: { code: 'overloaded' } });
  expect(await inFlightBytes(small)).toBe('0');
});
