import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { createTestTenant } from '@millrace/testing';
import lzString from 'lz-string';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';

/**
 * Tests every path for events with every encoding that SDKs use (docs/wire-rules.md#body-decoding, rules 3 to 6). Each
 * combination must succeed and store the right event.
 */
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

interface Sending {
  method?: 'GET';
  query?: string;
  /** The Content-Type header. If null, the request does not have one. */
  type?: string | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** The expected status. Defaults to 200. */
  status?: number;
}

const form = 'application/x-www-form-urlencoded';
const text = 'text/plain';
const json = 'application/json';
const gzip = (payload: string) => new Uint8Array(gzipSync(payload));
const base64 = (payload: string) => Buffer.from(payload).toString('base64');
const lz64 = (payload: string) => lzString.compressToBase64(payload);
const urlencoded = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

const encodings: [string, (payload: string) => Sending][] = [
  ['JSON', (p) => ({ type: json, body: p })],
  ['JSON with a charset', (p) => ({ type: `${json}; charset=utf-8`, body: p })],
  ['JSON as text/plain', (p) => ({ type: text, body: p })],
  ['JSON without a content type', (p) => ({ type: null, body: Buffer.from(p) })],
  ['JSON declared as a form', (p) => ({ type: form, body: p })],
  ['gzip by header', (p) => ({ type: json, headers: { 'content-encoding': 'gzip' }, body: gzip(p) })],
  ['gzip by query', (p) => ({ type: text, query: 'compression=gzip', body: gzip(p) })],
  [
    'JSON declared as gzip, as after a proxy that decompresses',
    (p) => ({ type: json, headers: { 'content-encoding': 'gzip' }, body: p }),
  ],
  ['JSON declared as gzip in the query', (p) => ({ type: text, query: 'compression=gzip', body: p })],
  ['JSON declared as lz64', (p) => ({ type: text, query: 'compression=lz64', body: p })],
  ['gzip declared as gzip-js in the query', (p) => ({ type: text, query: 'compression=gzip-js', body: gzip(p) })],
  ['gzip by its first bytes', (p) => ({ type: text, body: gzip(p) })],
  ['gzip by its first bytes, no content type', (p) => ({ type: null, body: gzip(p) })],
  [
    'gzip by header and query, compressed once',
    (p) => ({ type: json, query: 'compression=gzip', headers: { 'content-encoding': 'gzip' }, body: gzip(p) }),
  ],
  ['base64', (p) => ({ type: text, body: base64(p) })],
  ['base64 by query', (p) => ({ type: text, query: 'compression=base64', body: base64(p) })],
  ['base64 without padding', (p) => ({ type: text, body: base64(p).replace(/=+$/, '') })],
  ['lz64 by query', (p) => ({ type: text, query: 'compression=lz64', body: lz64(p) })],
  ['lz64 by header', (p) => ({ type: text, headers: { 'content-encoding': 'lz64' }, body: lz64(p) })],
  ['form with base64', (p) => ({ type: form, body: urlencoded({ data: base64(p) }) })],
  ['form with declared base64', (p) => ({ type: form, body: urlencoded({ data: base64(p), compression: 'base64' }) })],
  [
    'form with base64 and the compression in the query',
    (p) => ({ type: `${form}; charset=UTF-8`, query: 'compression=base64', body: urlencoded({ data: base64(p) }) }),
  ],
  ['form with base64 whose plus signs became spaces', (p) => ({ type: form, body: `data=${base64(p)}` })],
  ['form with JSON', (p) => ({ type: form, body: urlencoded({ data: p }) })],
  ['form with lz64', (p) => ({ type: form, body: urlencoded({ data: lz64(p), compression: 'lz64' }) })],
  [
    'form with gzip',
    (p) => ({ type: form, body: urlencoded({ data: gzipSync(p).toString('base64'), compression: 'gzip' }) }),
  ],
  ['form without the Content-Type', (p) => ({ type: text, body: urlencoded({ data: base64(p) }) })],
  ['GET with JSON', (p) => ({ method: 'GET', query: urlencoded({ data: p }) })],
  ['GET with base64', (p) => ({ method: 'GET', query: urlencoded({ data: base64(p), ip: '1', ver: '1.20.0' }) })],
  ['GET with lz64', (p) => ({ method: 'GET', query: urlencoded({ data: lz64(p), compression: 'lz64' }) })],
  ['POST with the data in the query', (p) => ({ type: text, query: urlencoded({ data: base64(p) }) })],
  ['beacon with gzip', (p) => ({ type: null, query: 'beacon=1', body: gzip(p), status: 204 })],
  [
    'beacon with a form',
    (p) => ({ type: form, query: 'beacon=1', body: urlencoded({ data: base64(p) }), status: 204 }),
  ],
];

async function send(path: string, { method, query = '', type, headers = {}, body }: Sending): Promise<number> {
  const response = await fetch(`${gateway.url}${path}${query === '' ? '' : `?${query}`}`, {
    method: method ?? 'POST',
    redirect: 'manual',
    headers: { ...headers, ...(typeof type === 'string' ? { 'content-type': type } : {}) },
    ...(body === undefined ? {} : { body: body as string }),
  });
  const result = await response.text();
  if (response.status === 200) expect(result).toBe('{"status":"Ok"}');
  return response.status;
}

const labels = ['/capture', '/batch', '/e', '/i/v0/e', '/track', '/engage', '/i/v0/ai', '/i/v0/ai/batch'];

test.each(labels.flatMap((label) => [label, `${label}/`]))('%s accepts every encoding', async (path) => {
  const { token } = await createTestTenant(fixture.database);
  // Shows whether a decoder treats bytes as characters, or plus signs as spaces.
  const properties = { said: 'größer+kleiner / 東京 🎉 ~~~???>>>', ünï: ['a+b', { nested: true }] };
  const sent = encodings.map(([name, encode]) => {
    const event = { event: name, distinct_id: `who+${name}`, uuid: randomUUID(), properties };
    return { event, sending: encode(JSON.stringify({ api_key: token, ...event })) };
  });
  const responses = await Promise.all(
    sent.map(async ({ event, sending }) => [event.event, await send(path, sending)] as const),
  );
  expect(Object.fromEntries(responses)).toEqual(
    Object.fromEntries(sent.map(({ event, sending }) => [event.event, sending.status ?? 200])),
  );
  const stored = await reader.events(token, sent.length);
  expect(
    new Map(stored.map(({ event, distinct_id, uuid, properties: kept }) => [event, { distinct_id, uuid, kept }])),
  ).toEqual(
    new Map(sent.map(({ event: { event, distinct_id, uuid } }) => [event, { distinct_id, uuid, kept: properties }])),
  );
});
