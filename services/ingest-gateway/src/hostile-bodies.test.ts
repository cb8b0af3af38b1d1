import { gzipSync } from 'node:zlib';
import { createTestTenant } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from './testing/test-gateway.ts';

/**
 * Bodies made to hurt: each must end with an honest answer, in bounded memory, and others must be answered meanwhile.
 * The gateway runs in this process, so what it takes is measured here.
 */
let fixture: GatewayFixture;
let gateway: TestGateway;
let key: string;

const mebibyte = 1024 * 1024;

beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
  ({ projectApiKey: key } = await createTestTenant(fixture.database));
  expect((await post(small())).status).toBe(200);
});
afterAll(() => fixture.stop());

function small(): Buffer {
  return Buffer.from(JSON.stringify({ api_key: key, event: 'small', distinct_id: 'd' }));
}

async function post(body: Buffer): Promise<{ status: number; code: string | undefined }> {
  const response = await fetch(`${gateway.url}/batch/`, { method: 'POST', body: new Uint8Array(body) });
  const answer = (await response.json()) as { code?: string };
  return { status: response.status, code: answer.code };
}

/** Sends small requests one after the other until `done`; each must be taken. */
async function othersAreAnsweredDuring(done: Promise<unknown>): Promise<void> {
  let isDone = false;
  void done.finally(() => {
    isDone = true;
  });
  while (!isDone) expect((await post(small())).status).toBe(200);
}

const repeated = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length));
const asBatch = (items: string, apiKey = key) => Buffer.from(`{"api_key":"${apiKey}","batch":[${items}]}`);
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
    'as many as are allowed, for a key that nobody has',
    () => asBatch(`${repeated('[],', mebibyte)}[]`, 'phc_of_nobody_at_all'),
    { status: 401, code: 'invalid_api_key' },
  ],
  ['ten million levels', () => asBatch(repeated('[', 10 * mebibyte)), { status: 413, code: 'too_many_values' }],
  ['a hundred thousand levels', () => asBatch(nested(100_000)), { status: 400, code: 'too_deep' }],
  [
    'an event with two hundred thousand keys',
    () => {
      const fields = Array.from({ length: 200_000 }, (_, index) => `"k${index}":1`).join(',');
      return asBatch(`{"event":"wide","distinct_id":"d","properties":{${fields}}}`);
    },
    { status: 413, code: 'event_too_large' },
  ],
  [
    'keys that are numbers and prototypes',
    () => {
      const odd = ['__proto__', 'constructor', 'prototype', 'toString', '4294967295', '-1'];
      const fields = odd.map((name) => `"${name}":{"__proto__":{"polluted":1}}`).join(',');
      return asBatch(`{"event":"odd","distinct_id":"d","properties":{${fields}}}`);
    },
    { status: 200, code: undefined },
  ],
  [
    'forty megabytes of one text',
    () => asBatch(`"${'x'.repeat(40 * mebibyte)}"`),
    { status: 400, code: 'invalid_payload' },
  ],
];

test.each(bodies)('%s', async (_, makeBody, expected) => {
  const bomb = gzipSync(makeBody());
  const before = process.memoryUsage();
  let peakBytes = 0;
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage().rss - before.rss);
  }, 20);
  const hostile = post(bomb);
  const answered = othersAreAnsweredDuring(hostile);
  expect(await hostile).toEqual(expected);
  clearInterval(watch);
  await answered;
  // The text twice over, and what the budget lets its values take.
  expect(peakBytes / mebibyte).toBeLessThan(400);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect((await post(small())).status).toBe(200);
});
