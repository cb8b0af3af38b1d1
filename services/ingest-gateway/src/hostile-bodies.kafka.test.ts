import { gzipSync } from 'node:zlib';
import { createTestTenant, hostileBodies } from '@millrace/testing';
import { type AttackedGateway, startAttackedGateway } from './testing/attacked-gateway.ts';
import { createGatewayFixture } from './testing/test-gateway.ts';
import { readTopics } from './testing/topic-reader.ts';

/**
 * Tests bodies that are expensive to process. Each must get a correct response, use limited memory, and not delay other
 * requests for long. The gateway is a separate process, so that its memory can be measured.
 */
let gateway: AttackedGateway;

const mebibyte = 1024 * 1024;
/**
 * Far longer than any delay on an idle machine, because the machine may be busy, but too short to be useful to an
 * attacker.
 */
const longestStallMs = 15_000;
/** Twice the size of the JSON text, plus the memory budget for its values. */
const maxMib = 400;

beforeAll(async () => {
  gateway = await startAttackedGateway();
});
afterAll(() => gateway?.stop());

async function post(url: string, body: Buffer): Promise<{ status: number; code: string | undefined }> {
  const response = await fetch(`${url}/batch/`, { method: 'POST', body: new Uint8Array(body) });
  const result = (await response.json()) as { code?: string };
  return { status: response.status, code: result.code };
}

const repeated = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length));
const asBatch = (items: string, apiKey = gateway.token) => Buffer.from(`{"api_key":"${apiKey}","batch":[${items}]}`);
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const bodies: [string, () => Buffer, { status: number; code: string | undefined }][] = [
  [
    'thirty megabytes of empty arrays',
    () => asBatch(`${repeated('[],', 30 * mebibyte)}[]`),
    { status: 413, code: 'too_many_values' },
  ],
  [
    'the same without a key',
    () => Buffer.from(`[${repeated('[],', 30 * mebibyte)}[]]`),
    { status: 413, code: 'too_many_values' },
  ],
  [
    'the maximum number of values, for an unknown key',
    () => asBatch(`${repeated('[],', mebibyte)}[]`, 'phc_of_nobody_at_all'),
    { status: 401, code: 'invalid_api_key' },
  ],
  ['ten million levels', () => asBatch(repeated('[', 10 * mebibyte)), { status: 413, code: 'too_many_values' }],
  ['an array that is nested 100,000 levels deep', () => asBatch(nested(100_000)), { status: 400, code: 'too_deep' }],
  [
    'an event with two hundred thousand keys',
    () => {
      const fields = Array.from({ length: 200_000 }, (_, index) => `"k${index}":1`).join(',');
      return asBatch(`{"event":"wide","distinct_id":"d","properties":{${fields}}}`);
    },
    { status: 413, code: 'event_too_large' },
  ],
  [
    'an event with a million keys',
    () => {
      const fields = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(',');
      return asBatch(`{"event":"wide","distinct_id":"d","properties":{${fields}}}`);
    },
    { status: 413, code: 'too_many_values' },
  ],
  [
    'a million keys around the batch',
    () => {
      const fields = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(',');
      return Buffer.from(`{${fields},"api_key":"${gateway.token}","batch":[{"event":"e","distinct_id":"d"}]}`);
    },
    { status: 413, code: 'too_many_values' },
  ],
  [
    'a gigabyte compressed as a gzip bomb',
    () => Buffer.alloc(1024 * mebibyte),
    { status: 413, code: 'request_too_large' },
  ],
  [
    'a million invalid items and one event',
    () => asBatch(`${repeated('5,', 2 * 999_000)}{"event":"e","distinct_id":"d"}`),
    { status: 200, code: undefined },
  ],
  [
    'two hundred thousand invalid events and a valid one',
    () => asBatch(`${repeated('{"event":"e","uuid":5},', 23 * 200_000)}{"event":"e","distinct_id":"d"}`),
    { status: 200, code: undefined },
  ],
  [
    'forty megabytes of one text',
    () => asBatch(`"${'x'.repeat(40 * mebibyte)}"`),
    { status: 400, code: 'invalid_payload' },
  ],
];

test.each(bodies)('%s', async (_, makeBody, expected) => {
  const bomb = gzipSync(makeBody(), { level: 1 });
  const report = await gateway.during(() => post(gateway.url, bomb));
  expect(report.result).toEqual(expected);
  expect(report.failed).toEqual([]);
  expect(report.succeeded).toBeGreaterThan(0);
  expect(report.slowestMs).toBeLessThan(longestStallMs);
  expect(report.grownMib).toBeLessThan(maxMib);
});

/** Capture v1 reports a result for every event, so a small upload requires a long response. */
test('handles a Capture v1 batch of half a million events that contain only a UUID', async () => {
  const count = 480_000;
  const uuid = (index: number) => `0198c2a4-0000-7000-8000-${String(index).padStart(12, '0')}`;
  const events = Array.from({ length: count }, (_, index) => `{"uuid":"${uuid(index)}"}`).join(',');
  const now = new Date().toISOString();
  const body = gzipSync(`{"created_at":"${now}","batch":[${events}]}`, { level: 1 });
  const headers = {
    authorization: `Bearer ${gateway.token}`,
    'content-type': 'application/json',
    'user-agent': 'test/1',
    'posthog-sdk-info': 'posthog-test/1.2.3',
    'posthog-attempt': '1',
    'posthog-request-id': uuid(0),
    'posthog-request-timestamp': now,
  };
  const report = await gateway.during(async () => {
    const url = `${gateway.url}/i/v1/analytics/events`;
    const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
    const { results } = (await response.json()) as { results: Record<string, { details: string }> };
    const drops = Object.values(results).filter(({ details }) => details === 'missing_event_name').length;
    return { status: response.status, drops };
  });
  expect(report.result).toEqual({ status: 200, drops: count });
  expect(report.failed).toEqual([]);
  expect(report.slowestMs).toBeLessThan(longestStallMs);
  expect(report.grownMib).toBeLessThan(maxMib);
});

test('handles several huge batches at the same time', async () => {
  const bombs = bodies
    .slice(0, 4)
    .map(([, makeBody, { status }]) => ({ bomb: gzipSync(makeBody(), { level: 1 }), status }));
  const report = await gateway.during(() =>
    Promise.all(bombs.map(async ({ bomb }) => (await post(gateway.url, bomb)).status)),
  );
  // If not all batches fit into the memory budget at the same time, some get 503.
  for (const [index, status] of report.result.entries()) expect([503, bombs[index]?.status]).toContain(status);
  expect(report.failed.filter((outcome) => outcome !== '503')).toEqual([]);
  expect(report.slowestMs).toBeLessThan(longestStallMs);
  expect(report.grownMib).toBeLessThan(2 * maxMib);
});

/** This gateway runs in the test's own process, where pollution of the object prototype would be visible. */
test('stores keys such as __proto__ or numbers unchanged', async () => {
  const fixture = await createGatewayFixture();
  const own = await fixture.startGateway();
  const reader = await readTopics(fixture.log, [fixture.topics.live]);
  const { token } = await createTestTenant(fixture.database);
  const odd = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '4294967295', '-1', ''];
  const fields = odd.map((name) => `${JSON.stringify(name)}:{"__proto__":{"polluted":1}}`).join(',');
  const properties = `{${fields}}`;
  const event = `{"event":"odd","distinct_id":"d","__proto__":{"polluted":1},"properties":${properties}}`;
  const requests = [
    `{"api_key":"${token}","batch":[${event}],"__proto__":{"polluted":1}}`,
    `{"api_key":"${token}",${event.slice(1)}`,
  ];
  for (const body of requests) {
    expect(await post(own.url, Buffer.from(body))).toEqual({ status: 200, code: undefined });
  }
  for (const { properties: stored, ...others } of await reader.events(token, 2)) {
    expect(Object.keys(stored).sort()).toEqual([...odd].sort());
    expect(JSON.parse(JSON.stringify(stored))).toEqual(JSON.parse(properties));
    expect(others).toMatchObject({ event: 'odd', distinct_id: 'd' });
    expect('polluted' in others).toBe(false);
  }
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  await reader.stop();
  await fixture.stop();
});

/** Express handles these paths, and parses bodies in the thread that also handles events. */
describe('hostile bodies on paths other than capture', () => {
  const large = { what: '60 MiB of objects', body: gzipSync(asText('{},', 60 * mebibyte), { level: 1 }), headers: {} };
  const table = [...hostileBodies(mebibyte), ...hostileBodies(128 * 1024), large];

  test.each([
    '/flags/',
    '/decide/',
    '/array/phc_x/config',
    '/api/feature_flag/local_evaluation',
    '/i/v1/analytics/events',
    '/nothing',
  ])('%s', async (path) => {
    const report = await gateway.during(async () => {
      for (const { what, body, headers } of table) {
        const response = await fetch(gateway.url + path, { method: 'POST', headers, body: new Uint8Array(body) });
        await response.arrayBuffer();
        expect([what, response.status, response.status >= 400 && response.status < 500]).toEqual([
          what,
          response.status,
          true,
        ]);
      }
    });
    expect(report.failed).toEqual([]);
    expect(report.succeeded).toBeGreaterThan(0);
    expect(report.slowestMs).toBeLessThan(longestStallMs);
    expect(report.grownMib).toBeLessThan(maxMib / 4);
  });
});

function asText(piece: string, bytes: number): string {
  return `[${repeated(piece, bytes)}1]`;
}
