import { gzipSync } from 'node:zlib';
import { createTestTenant, eventually } from '@millrace/testing';
import lzString from 'lz-string';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { measured } from '../testing/traffic-probe.ts';

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

const newKey = async () => (await createTestTenant(fixture.database)).projectApiKey;

async function post(body: string | Buffer, { url } = gateway, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/batch/`, { method: 'POST', body: new Uint8Array(Buffer.from(body)), headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const filler = 'x'.repeat(1000);
const event = (index: number, more = {}) => ({
  event: 'large',
  distinct_id: 'one person',
  properties: { index, filler, 'größe "🎉"': [index, { '': null }] },
  ...more,
});
/** 600 events of 1 KB each, so that the body is larger than 256 KiB. */
const events = (change: (index: number) => object = () => ({})) =>
  Array.from({ length: 600 }, (_, index) => event(index, change(index)));
const inFlightBytes = async ({ metrics }: TestGateway) =>
  /^millrace_capture_in_flight_bytes (\d+)/m.exec(await metrics.registry.metrics())?.[1];

test.each<[string, (json: string) => string | Buffer, string?]>([
  ['uncompressed', (json) => json],
  ['as gzip, which is small in transit', (json) => gzipSync(json)],
  ['as gzip in base64', (json) => gzipSync(json).toString('base64')],
  ['after a byte order mark', (json) => `\ufeff${json}`],
  ['as several gzip streams', (json) => Buffer.concat([gzipSync(json.slice(0, -9)), gzipSync(json.slice(-9))])],
])('stores a large batch %s completely and in order', async (_how, encode) => {
  const key = await newKey();
  const batch = events();
  expect(await post(encode(JSON.stringify({ api_key: key, batch })))).toMatchObject({ status: 200 });
  const stored = await reader.events(key, batch.length);
  expect(stored.map(({ properties }) => properties)).toEqual(batch.map(({ properties }) => properties));
});

test('stores a large array of events and a large single event', async () => {
  const key = await newKey();
  expect(await post(JSON.stringify(events(() => ({ api_key: key }))))).toMatchObject({ status: 200 });
  const properties = { text: 'y'.repeat(300_000) };
  expect(await post(JSON.stringify({ api_key: key, ...event(600, { properties }) }))).toMatchObject({ status: 200 });
  const stored = await reader.events(key, 601);
  expect(stored.at(-1)?.properties).toEqual(properties);
});

test('repairs invalid events, drops only those that cannot be stored, and reports their indexes', async () => {
  const key = await newKey();
  const deep = `{"event":"deep","distinct_id":"d","properties":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`;
  const batch = JSON.stringify(
    events((index) => {
      if (index === 300) return { distinct_id: '' };
      if (index === 301) return { event: undefined };
      if (index === 302) return { properties: { torn: '\ud83c', 'quoted "name"': 1 }, batch: 'a field like any other' };
      return {};
    }),
  );
  const body = `{"api_key":"${key}","batch":${batch.slice(0, -1)},${deep},{"event":"n","distinct_id":12345678901234567890}]}`;
  expect(await post(body)).toMatchObject({ status: 200 });
  const stored = await reader.events(key, 599);
  expect(stored.find(({ properties }) => 'torn' in properties)?.properties).toEqual({
    torn: '\ufffd',
    'quoted "name"': 1,
  });
  expect(stored.find(({ event: name }) => name === 'n')?.distinct_id).toBe('12345678901234567890');
  const warnings = await reader.warnings(key, 3);
  const reported = warnings.map(({ type, count, details }) => [
    type,
    count,
    (details.samples as { index: number }[]).map(({ index }) => index),
  ]);
  expect(reported.sort()).toEqual([
    ['malformed_event_properties', 1, [600]],
    ['missing_distinct_id', 1, [300]],
    ['missing_event_name', 1, [301]],
  ]);
});

test.each<[string, (key: string) => string | Buffer, number, object]>([
  [
    'only invalid events',
    (key) => JSON.stringify({ api_key: key, batch: events((index) => (index < 412 ? { event: '' } : { $set: 'x' })) }),
    400,
    { code: 'invalid_payload', attr: 'batch__412__$set' },
  ],
  ['invalid JSON', (key) => `${JSON.stringify({ api_key: key, batch: events() })}x`, 400, { code: 'invalid_json' }],
  ['an unknown key', () => JSON.stringify({ api_key: 'phc_of_nobody', batch: events() }), 401, { attr: 'api_key' }],
  ['an unknown key in every event', () => JSON.stringify(events(() => ({ api_key: 'phc_of_nobody' }))), 401, {}],
  [
    'a truncated gzip stream',
    (key) => gzipSync(JSON.stringify({ api_key: key, batch: events() })).subarray(0, -20),
    400,
    { code: 'invalid_gzip' },
  ],
])('returns the same error for a large body with %s as for a small one', async (_what, body, status, refusal) => {
  expect(await post(body(await newKey()))).toMatchObject({ status, body: refusal });
  expect(await inFlightBytes(gateway)).toBe('0');
});

test("counts a thread's memory towards the byte budget, and releases it", async () => {
  const key = await newKey();
  const small = await fixture.startGateway({ config: { maxInFlightBytes: 1024 * 1024 } });
  const zipped = gzipSync(JSON.stringify({ api_key: key, batch: [...events(), ...events()] }));
  expect(await post(zipped, small)).toMatchObject({ status: 503, body: { code: 'overloaded' } });
  expect(await inFlightBytes(small)).toBe('0');
  expect(await post(gzipSync(JSON.stringify({ api_key: key, batch: events().slice(0, 300) })), small)).toMatchObject({
    status: 200,
  });
  expect(await inFlightBytes(small)).toBe('0');
});

test('fails only the request of a crashed thread, lets the client retry it, and replaces the thread', async () => {
  const key = await newKey();
  const unlucky = await fixture.startGateway({ config: { largeBodyThreads: 1 }, exitsOn: 'end of the thread' });
  const ending = JSON.stringify({ api_key: key, batch: [event(0, { uuid: 'end of the thread' }), ...events()] });
  const [failed, small, large] = await Promise.all([
    post(ending, unlucky),
    post(JSON.stringify({ api_key: key, batch: [event(1)] }), unlucky),
    post(JSON.stringify({ api_key: key, batch: events().slice(0, 300) }), unlucky),
  ]);
  expect(failed).toMatchObject({ status: 503, body: { code: 'body_thread_lost' } });
  expect([small, large].map(({ status, body }) => [status, body])).toEqual(Array(2).fill([200, { status: 'Ok' }]));
  expect(await inFlightBytes(unlucky)).toBe('0');
});

// V8 aborts the whole process if a single value does not fit into a thread's heap.
test.each<[string, (text: string) => object]>([
  ['with a text that must be repaired', (text) => ({ properties: { torn: '\ud83c', text } })],
  ['with a numeric ID above 2^53', (text) => ({ distinct_id: 'LONG', properties: { text } })],
  ['with an escaped name', (text) => ({ event: `"${text}` })],
])("rejects a body %s that is too large for a thread's heap", async (_what, makeEvent) => {
  const key = await newKey();
  const small = await fixture.startGateway({ config: { largeBodyHeapMb: 128 } });
  const text = `${'x'.repeat(14 * 1024 * 1024)}🎉`;
  const json = JSON.stringify({ api_key: key, batch: [event(0, makeEvent(text))] });
  const body = gzipSync(json.replace('"LONG"', '12345678901234567890'), { level: 1 });
  expect(await post(body, small)).toMatchObject({ status: 413, body: { code: 'request_too_large' } });
  expect(await post(JSON.stringify({ api_key: key, batch: events() }), small)).toMatchObject({ status: 200 });
});

test('a small lz64 body that decodes to megabytes does not delay other requests', async () => {
  const key = await newKey();
  const at = await fixture.startGateway();
  // Send a large body to start the thread.
  await post(JSON.stringify({ api_key: key, batch: events() }), at);
  const received = () => measured(at, 'capture_received_bytes_total');
  const before = await received();
  const many = Array.from({ length: 28_000 }, (_, index) => ({
    event: `e${index}`,
    properties: { a: index, b: 'like' },
  }));
  // The body is truncated, so the gateway rejects it as soon as it has decoded all of it.
  const torn = lzString.compressToBase64(JSON.stringify(many)).slice(0, -12);
  const form = `data=${encodeURIComponent(torn)}&compression=LZ64`;
  expect(form.length).toBeLessThan(256 * 1024);
  const finished: string[] = [];
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const large = post(form, at, type).then(({ status, body }) => finished.push(`large ${status} ${body.code}`));
  await eventually(async () => (await received()) === before + form.length, { what: 'its arrival', intervalMs: 1 });
  const small = post(JSON.stringify({ api_key: key, batch: [event(0)] }), at).then(({ status }) =>
    finished.push(`small ${status}`),
  );
  await Promise.all([large, small]);
  expect(finished).toEqual(['small 200', 'large 400 invalid_lz64']);
});

test('finishes large bodies in progress during the shutdown', async () => {
  const key = await newKey();
  const stopped = await fixture.startGateway();
  const response = post(JSON.stringify({ api_key: key, batch: events() }), stopped);
  await new Promise((resolve) => stopped.server.once('request', resolve));
  await stopped.stop();
  expect(await response).toMatchObject({ status: 200 });
  expect(await reader.events(key, 600)).toHaveLength(600);
});

describe('the queue of large bodies', () => {
  const items = `[${'{},'.repeat(200_000)}{}]`;
  /**
   * How many other requests are in flight at any time. A body that waits for all of them waits for at least this many.
   */
  const manyOthers = 8;
  const withoutKey = gzipSync(`{"batch":${items}}`, { level: 1 });
  const batch = (key: string) => JSON.stringify({ api_key: key, batch: events() });
  const keyLast = (key: string) => gzipSync(JSON.stringify({ batch: events(), api_key: key }));

  /**
   * Sends `last` while other requests wait. Keeps sending the others until `last` has its response, so that some are
   * always waiting, even on a slow machine. Returns how many requests `last` has overtaken.
   */
  async function overtake(other: () => Promise<unknown>, last: () => Promise<{ status: number }>) {
    // Send two bodies to start both threads.
    await Promise.all([post(batch(await newKey())), post(keyLast(await newKey()))]);
    const waiting = new Set<symbol>();
    let isOver = false;
    const sendAgain = async () => {
      while (!isOver) {
        const request = Symbol();
        waiting.add(request);
        await other();
        waiting.delete(request);
      }
    };
    const first = other();
    const senders = Array.from({ length: manyOthers }, sendAgain);
    await first;
    const before = [...waiting];
    const { status } = await last();
    isOver = true;
    const overtaken = before.filter((request) => waiting.has(request)).length;
    await Promise.all(senders);
    return { status, overtaken };
  }

  const from = (address: string) => ({ 'x-forwarded-for': address });

  test('a body with a known API key does not wait for bodies without one', async () => {
    const key = await newKey();
    const other = () => post(withoutKey, gateway, from('10.1.0.1'));
    const { status, overtaken } = await overtake(other, () => post(batch(key), gateway, from('10.1.0.1')));
    expect(status).toBe(200);
    expect(overtaken).toBeGreaterThan(2);
  });

  test('a body with its API key at the end overtakes bodies from another IP address, and is stored', async () => {
    const key = await newKey();
    const other = () => post(withoutKey, gateway, from('10.1.0.1'));
    const { status, overtaken } = await overtake(other, () => post(keyLast(key), gateway, from('10.1.0.2')));
    expect(status).toBe(200);
    expect(overtaken).toBeGreaterThan(2);
    expect(await reader.events(key, 600)).toHaveLength(600);
  });

  test.each<[string, (key: string) => [Buffer | string, Record<string, string>, string]]>([
    ['in its first bytes', (key) => [batch(key), {}, '']],
    ['in its first bytes, as gzip in base64', (key) => [gzipSync(batch(key)).toString('base64'), {}, '']],
    ['in the URL', (key) => [keyLast(key), {}, `?api_key=${key}`]],
    ['in its headers', (key) => [keyLast(key), { authorization: `Bearer ${key}` }, '']],
  ])('a body whose API key is %s overtakes bodies with a different key', async (_where, make) => {
    const [busy, key] = [await newKey(), await newKey()];
    const many = gzipSync(`{"api_key":"${busy}","batch":${items}}`, { level: 1 });
    const [body, headers, query] = make(key);
    const send = async () => {
      const response = await fetch(`${gateway.url}/batch/${query}`, {
        method: 'POST',
        headers,
        body: new Uint8Array(Buffer.from(body)),
      });
      return { status: response.status };
    };
    const { status, overtaken } = await overtake(() => post(many), send);
    expect(status).toBe(200);
    expect(overtaken).toBeGreaterThan(2);
  });
});
