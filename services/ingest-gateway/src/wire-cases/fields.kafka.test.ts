import { randomUUID } from 'node:crypto';
import { createTestTenant } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';

/**
 * Checks each event field in requests of every shape. The record contains everything that the SDK sent, unchanged, and
 * nothing else (docs/wire-rules.md#event-fields, and `packages/contracts` for the record).
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

const properties = (token: string) => ({
  token,
  distinct_id: 'in the properties',
  $lib: 'web',
  $lib_version: '1.449.2',
  $session_id: '01a1fb70-f168-75e2-acd9-5d54ae436d3d',
  $groups: { company: 'acme' },
  $set: { plan: 'full' },
  $set_once: { first: true },
  $process_person_profile: false,
  $ip: '203.0.113.9',
  text: 'größer 東京 🎉 "quoted" \\ / \u2028',
  empty: '',
  nothing: null,
  yes: true,
  no: false,
  whole: 42,
  negative: -0.5,
  huge: 1e300,
  list: [1, 'two', [3], { four: null }],
  nested: { a: { b: { c: ['d'] } } },
  'a key with spaces.and.dots': 1,
});

interface Shape {
  path: string;
  body(event: object, token: string, sentAt: string): object;
  saysSentAt: boolean;
}

const shapes: Record<string, Shape> = {
  'batch (servers, mobiles, the newest browsers)': {
    path: '/batch/',
    body: (event, api_key, sent_at) => ({ api_key, batch: [event], sent_at }),
    saysSentAt: true,
  },
  'batch with the field names of old Python SDKs': {
    path: '/batch/',
    body: (event, api_key, sentAt) => ({ api_key, batch: [event], sentAt }),
    saysSentAt: true,
  },
  'array (browsers)': { path: '/e/', body: (event) => [event], saysSentAt: false },
  'single event': { path: '/capture', body: (event, api_key) => ({ api_key, ...event }), saysSentAt: false },
};

test.each(Object.entries(shapes))('%s', async (_name, { path, body, saysSentAt }) => {
  const { token, environmentId } = await createTestTenant(fixture.database);
  const before = Date.now();
  // The client's clock is an hour behind. If the request contains its send time, the record has the corrected time.
  const lateByMs = 3_600_000;
  const sentAtMs = before - lateByMs;
  const timestampMs = sentAtMs - 5000;
  const uuid = randomUUID();
  const event = {
    uuid: uuid.toUpperCase(),
    event: 'order placed',
    distinct_id: 'user-1',
    timestamp: new Date(timestampMs).toISOString(),
    properties: properties(token),
    $set: { email_domain: 'example.org' },
    $set_once: { seen: 1 },
    $unset: ['gone'],
    // SDKs send this field too, but it is not stored.
    type: 'capture',
    library: 'posthog-node',
    library_version: '4.0.0',
    messageId: 'm-1',
    message_id: 'm-1',
    send_feature_flags: false,
    groups: { company: 'other' },
    $lib: 'elsewhere',
  };
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-forwarded-for': '198.51.100.7, 10.0.0.1' },
    body: JSON.stringify(body(event, token, new Date(sentAtMs).toISOString())),
  });
  expect(response.status).toBe(200);
  const after = Date.now();

  const [record] = await reader.records(token, 1);
  expect(record?.key).toBe(`${token}:user-1`);
  if (record?.value.kind !== 'event') throw new Error('the record is an event');
  const { now, timestamp, ...others } = record.value;
  expect(others).toEqual({
    kind: 'event',
    uuid,
    token,
    environment_id: environmentId,
    distinct_id: 'user-1',
    event: 'order placed',
    ip: '198.51.100.7',
    ...(saysSentAt ? { sent_at: new Date(sentAtMs).toISOString() } : {}),
    $set: { email_domain: 'example.org' },
    $set_once: { seen: 1 },
    $unset: ['gone'],
    properties: properties(token),
  });
  const nowMs = Date.parse(now);
  expect([nowMs >= before, nowMs <= after, new Date(nowMs).toISOString() === now]).toEqual([true, true, true]);
  expect(Date.parse(timestamp)).toBe(saysSentAt ? timestampMs + (nowMs - sentAtMs) : timestampMs);
});

test("a minimal event's record contains only the required fields", async () => {
  const { token, environmentId } = await createTestTenant(fixture.database);
  const body = JSON.stringify({ properties: { token, distinct_id: 7 }, event: 'bare' });
  const response = await fetch(`${gateway.url}/i/v0/e/`, { method: 'POST', body });
  expect(response.status).toBe(200);
  const [record] = await reader.records(token, 1);
  if (record?.value.kind !== 'event') throw new Error('the record is an event');
  const { now, ...others } = record.value;
  expect(others).toEqual({
    kind: 'event',
    uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    token,
    environment_id: environmentId,
    distinct_id: '7',
    event: 'bare',
    timestamp: now,
    ip: '127.0.0.1',
    properties: { token, distinct_id: 7 },
  });
});
