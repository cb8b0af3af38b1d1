import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { createTestTenant } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';

/**
 * Tests the twelve rules in docs/wire-rules.md#how-sdks-react-to-responses over HTTP. sdk-reactions.kafka.test.ts
 * contains more tests of rule 12.
 */
let fixture: GatewayFixture;
let gateway: TestGateway;
let reader: TopicReader;
let token: string;
const origin = 'https://app.example';
const paths = ['/capture', '/batch', '/e', '/i/v0/e', '/track', '/engage', '/i/v0/ai', '/i/v0/ai/batch'];

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

const event = (more: object = {}) => ({ event: 'e', distinct_id: 'u', uuid: randomUUID(), ...more });
const json = (value: unknown) => JSON.stringify(value);

async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(gateway.url + path, { method: 'POST', redirect: 'manual', ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
/** Sends a request and expects success. @returns the stored events */
async function stored(count: number, path: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  const response = await ask(path, { body: body as string, headers });
  expect([response.status, response.text]).toEqual([200, '{"status":"Ok"}']);
  return reader.events(token, count);
}

test('rule 1: the response to an accepted request has exactly the status 200', async () => {
  const statuses = await Promise.all(
    paths.map(async (path) => (await ask(path, { body: json({ api_key: token, ...event() }) })).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('rule 2: the response is a JSON object with the Content-Type `application/json`', async () => {
  for (const path of paths) {
    const { text, headers } = await ask(path, { body: json({ api_key: token, ...event() }) });
    expect(JSON.parse(text)).toEqual({ status: 'Ok' });
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('content-length')).toBe(String(text.length));
  }
});

test('rule 3: every path works with and without a trailing slash, without a redirect', async () => {
  const asked = [
    ...paths.map((path) => [path, json({ api_key: token, ...event() })] as const),
    ...['/flags', '/decide'].map((path) => [path, json({ token, distinct_id: 'u' })] as const),
  ].flatMap(([path, body]) => [`${path}?v=2`, `${path}/?v=2`].map((at) => ({ at, body })));
  const responses = await Promise.all(asked.map(async ({ at, body }) => [at, (await ask(at, { body })).status]));
  expect(responses).toEqual(asked.map(({ at }) => [at, 200]));
});

test.each<[string, string, Record<string, string>]>([
  ['the header', '/batch', { 'content-encoding': 'gzip' }],
  ['the query gzip', '/e/?compression=gzip', {}],
  ['the query gzip-js', '/e/?compression=gzip-js', { 'content-type': 'text/plain' }],
  ['its first bytes', '/i/v0/e/', { 'content-type': 'text/plain' }],
  ['only its first bytes', '/i/v0/e/', {}],
  ['header and query at once, as Go and Rust send it', '/batch/?compression=gzip', { 'content-encoding': 'gzip' }],
])('rule 4: detects gzip by %s', async (_name, path, headers) => {
  const body = new Uint8Array(gzipSync(json({ api_key: token, ...event() })));
  expect(await stored(1, path, body, headers)).toMatchObject([{ event: 'e' }]);
});

test.each([
  '/e/?compression=base64',
  '/e/?ip=1&_=1795220316911&ver=1.100.0',
  '/decide/?v=3',
  '/flags/?v=2&compression=base64',
])('rule 5: accepts a base64-encoded form at %s', async (path) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const isCapture = path.startsWith('/e');
  const question = isCapture ? { ...event(), properties: { token } } : { token, distinct_id: 'u' };
  const body = `data=${encodeURIComponent(Buffer.from(json(question)).toString('base64'))}`;
  if (isCapture) expect(await stored(1, path, body, headers)).toMatchObject([{ event: 'e' }]);
  else expect(await ask(path, { body, headers })).toMatchObject({ status: 200 });
});

test.each(paths)('rule 6: %s accepts a single object, an array, and an object that contains a batch', async (path) => {
  const names = async (count: number, body: object) => (await stored(count, path, json(body))).map((one) => one.event);
  const properties = { token };
  expect(await names(1, { api_key: token, ...event({ event: 'single' }) })).toEqual(['single']);
  const array = [event({ event: 'array 1', properties }), event({ event: 'array 2', properties })];
  expect(await names(3, array)).toEqual(['single', 'array 1', 'array 2']);
  expect(await names(4, { api_key: token, batch: [event({ event: 'batched' })] })).toContain('batched');
});

test.each<[string, (token: string) => object]>([
  ...['api_key', 'token', '$token'].flatMap((name): [string, (token: string) => object][] => [
    [`${name} of the envelope`, (key) => ({ [name]: key, batch: [event()] })],
    [`${name} of an event`, (key) => ({ ...event(), [name]: key })],
    [`${name} of an event in an array`, (key) => [{ ...event(), [name]: key }]],
  ]),
  ['properties.token', (key) => [event({ properties: { token: key } })]],
  ['properties.token in an envelope without one', (key) => ({ batch: [event({ properties: { token: key } })] })],
])('rule 7: finds the API key in %s', async (_name, body) => {
  expect(await stored(1, '/i/v0/e/', json(body(token)))).toMatchObject([{ token }]);
});

test.each<[string, object, string]>([
  ['at the top', { distinct_id: 'top', properties: { distinct_id: 'inner' } }, 'top'],
  ['in the properties', { distinct_id: undefined, properties: { distinct_id: 'inner' } }, 'inner'],
  ['as $distinct_id', { distinct_id: undefined, $distinct_id: 'dollar' }, 'dollar'],
  ['under a top-level null', { distinct_id: null, properties: { distinct_id: 'inner' } }, 'inner'],
  ['as a number', { distinct_id: 42 }, '42'],
])('rule 8: finds the distinct ID %s', async (_name, fields, expected) => {
  expect(await stored(1, '/batch/', json({ api_key: token, batch: [event(fields)] }))).toMatchObject([
    { distinct_id: expected },
  ]);
});

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'text/plain;charset=UTF-8',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'nonsense',
  null,
])('rule 9: accepts any content type (%s) and ignores unknown fields', async (type) => {
  const unknown = {
    ...{ type: 'capture', library: 'x', library_version: '1', messageId: 'm', message_id: 'm', groups: { a: 'b' } },
    ...{ send_feature_flags: true, $lib: 'x', offset: null, sent_at: 'never', sentAt: 'never', context: {} },
  };
  const body = json({ api_key: token, batch: [event({ ...unknown, $set: { a: 1 }, $unset: ['b'] })], ...unknown });
  const bytes = new Uint8Array(Buffer.from(body));
  const [found] = await stored(1, '/batch', bytes, type === null ? {} : { 'content-type': type });
  expect(found).toMatchObject({ event: 'e', $set: { a: 1 }, $unset: ['b'] });
  expect(Object.keys(found ?? {}).filter((key) => key in unknown)).toEqual([]);
});

test.each<[string, string, (sentAt: Date) => object, boolean]>([
  ['none', '/batch/', () => ({}), false],
  ['sent_at', '/batch/', (at) => ({ sent_at: at.toISOString() }), true],
  ['sent_at with microseconds', '/batch/', (at) => ({ sent_at: at.toISOString().replace('Z', '000+00:00') }), true],
  ['sentAt', '/batch/', (at) => ({ sentAt: at.toISOString() }), true],
  ['the query', '/e/?_=', () => ({}), true],
])('rule 10: the send time is optional: %s', async (_name, path, more, isKnown) => {
  const sentAt = new Date(Date.now() - 60_000);
  const at = path.endsWith('=') ? path + sentAt.getTime() : path;
  const [found] = await stored(1, at, json({ api_key: token, batch: [event()], ...more(sentAt) }));
  expect(found?.sent_at).toBe(isKnown ? sentAt.toISOString() : undefined);
});

test.each<[string, string, RequestInit, number]>([
  ['a success', '/e/', {}, 200],
  ['an error', '/i/v0/e/', { body: 'no JSON' }, 400],
  ['a wrong key', '/e/', { body: json({ api_key: 'phc_of_nobody', ...event() }) }, 401],
  ['an unknown path', '/nope', {}, 404],
  ['an unsupported method', '/e/', { method: 'PUT' }, 405],
  ['a preflight', '/e/', { method: 'OPTIONS' }, 200],
  ['flags', '/flags/?v=2', {}, 200],
])('rule 11: web pages can read %s', async (_name, path, init, status) => {
  const asked = 'content-type, x-of-tomorrow';
  const body = json({ api_key: token, token, ...event() });
  const response = await ask(path, {
    ...(init.method === 'OPTIONS' ? {} : { body }),
    ...init,
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('access-control-allow-origin')).toBe(origin);
  expect(response.headers.get('access-control-allow-credentials')).toBe('true');
  expect(response.headers.get('vary')).toMatch(/origin/i);
  if (init.method === 'OPTIONS') expect(response.headers.get('access-control-allow-headers')).toBe(asked);
});

test('rule 12: temporary errors return 503 with Retry-After, even to browsers and beacons', async () => {
  const full = await fixture.startGateway({ config: { maxInFlightBytes: 10 } });
  for (const query of ['', '?beacon=1']) {
    const body = json({ api_key: token, ...event() });
    const response = await fetch(`${full.url}/e/${query}`, { method: 'POST', headers: { origin }, body });
    expect([response.status, Number(response.headers.get('retry-after')) > 0]).toEqual([503, true]);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('access-control-expose-headers')).toBe('retry-after');
    await response.text();
  }
});
