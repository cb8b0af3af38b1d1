import { randomUUID } from 'node:crypto';
import { createKafkaLog, type EventLog, withAppendBreaker } from '@millrace/event-log';
import { createTestTenant, eventually, setTestPlan } from '@millrace/testing';
import { quietLogger } from '../testing/quiet-logger.ts';
import { openRawConnection } from '../testing/raw-http.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { createTestClock, type TestClock } from '../testing/traffic-probe.ts';
import { type SdkRow, sdkRows } from './sdk-reactions.ts';

/**
 * Tests every SDK in sdk-reactions.ts with every response of this gateway. The SDK sends events again after temporary
 * errors but not after permanent ones, and treats accepted requests as delivered.
 */
let fixture: GatewayFixture;
let reader: TopicReader;
let normal: TestGateway;
let throttling: TestGateway;
let withoutLog: TestGateway;
let full: TestGateway;
let strict: TestGateway;
let clock: TestClock;
let deadLog: EventLog;

beforeAll(async () => {
  fixture = await createGatewayFixture();
  reader = await readTopics(fixture.log, [fixture.topics.live]);
  clock = createTestClock();
  deadLog = createKafkaLog({ brokers: ['127.0.0.1:1'], clientId: 'gateway-test', logger: quietLogger() });
  [normal, throttling, withoutLog, full, strict] = await Promise.all([
    fixture.startGateway({ config: { limitFlushMs: 10 } }),
    fixture.startGateway({ now: clock.now, config: { limitFlushMs: 10 } }),
    fixture.startGateway({ log: withAppendBreaker(deadLog, { logger: quietLogger(), probeIntervalMs: 600_000 }) }),
    fixture.startGateway({ config: { maxInFlightBytes: 10 } }),
    fixture.startGateway({ config: { maxBodyBytes: 2000, bodyTimeoutMs: 100 } }),
  ]);
  clock.advance(3500);
  // Send requests until the gateway has noticed that its log is unavailable, so that no row has to wait for this.
  const { token } = await createTestTenant(fixture.database);
  const [, node] = sdkRows;
  if (node === undefined) throw new Error('there are rows');
  const first = await Promise.all([1, 2, 3].map(() => send(node, withoutLog, envelope(token, [event()]))));
  expect(first.map(({ status }) => status)).toEqual([503, 503, 503]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
  await deadLog.close();
});

const event = (more: object = {}) => ({ event: 'e', distinct_id: 'u', uuid: randomUUID(), properties: {}, ...more });
const envelope = (api_key: string, events: object[], more: object = {}) =>
  JSON.stringify({ api_key, batch: events, ...more });

async function send({ path, headers, encode }: SdkRow, gateway: TestGateway, json: string) {
  const body = encode(json) as string;
  const response = await fetch(gateway.url + path, { method: 'POST', redirect: 'manual', headers, body });
  const text = await response.text();
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, json: text.startsWith('{') ? JSON.parse(text) : undefined };
}

async function stall({ path, headers }: SdkRow, gateway: TestGateway) {
  const connection = await openRawConnection(gateway.port);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${lines.join('')}content-length: 1000\r\n\r\n{"api`);
  const { status, headers: responseHeaders } = await connection.response();
  connection.socket.destroy();
  return { status, retryAfter: responseHeaders['retry-after'] ?? null, json: undefined };
}

const withPlan = async (limits: { eventsPerMonth?: number; eventsPerSecond?: number }) => {
  const tenant = await createTestTenant(fixture.database);
  await setTestPlan(fixture.database, tenant.organizationId, 'full', limits);
  return tenant.token;
};

test.each(sdkRows.map((row) => [row.row, row.sdk, row] as const))('row %i: %s', async (_no, _sdk, row) => {
  const { token } = await createTestTenant(fixture.database);
  const poor = await createTestTenant(fixture.database, { plan: 'free' });
  const quota = await withPlan({ eventsPerMonth: 1 });
  const slow = await withPlan({ eventsPerSecond: 1 });
  const taken = event({ event: 'taken' });
  const many = Array.from({ length: 10 }, () => event());

  const responses = {
    accepted: await send(row, normal, envelope(token, [taken])),
    'only events without a name': await send(row, normal, envelope(token, [event({ event: '' })])),
    'within the quota': await send(row, normal, envelope(quota, [event()])),
    'over the quota': await send(row, normal, envelope(quota, [event()])),
    'as fast as the plan allows': await send(row, throttling, envelope(slow, many)),
    'faster than the plan allows': await send(row, throttling, envelope(slow, [event()])),
    'the log is unavailable': await send(row, withoutLog, envelope(token, [event()])),
    'the memory is used up': await send(row, full, envelope(token, [event()])),
    'invalid JSON': await send(row, normal, '{"batch": [,]}'),
    'a wrong type': await send(row, normal, envelope(token, [event({ properties: 'none' })])),
    'no key': await send(row, normal, JSON.stringify({ batch: [event()] })),
    'a wrong key': await send(row, normal, envelope('phc_of_nobody', [event()])),
    'a migration that the plan does not include': await send(
      row,
      normal,
      envelope(poor.token, [event()], { historical_migration: true }),
    ),
    'too large': await send(
      row,
      strict,
      envelope(token, [event({ properties: { noise: Array.from({ length: 300 }, () => randomUUID()) } })]),
    ),
    'the upload stalls': await stall(row, strict),
  };

  const reactions = Object.fromEntries(
    Object.entries(responses).map(([name, response]) => [name, row.react(response)]),
  );
  // Browsers and the legacy Java SDK lose events after 408. The gateway returns 408 nevertheless, because the other ten
  // SDKs send the events again, and a client that pauses for half a minute in the middle of an upload rarely reads the
  // response.
  const losesStalled = row.row === 1 || row.row === 13;
  const splits = [2, 3, 11, 12].includes(row.row);
  expect(reactions).toEqual({
    accepted: 'ok',
    'only events without a name': 'ok',
    'within the quota': 'ok',
    'over the quota': 'ok',
    'as fast as the plan allows': 'ok',
    'faster than the plan allows': 'retried',
    'the log is unavailable': 'retried',
    'the memory is used up': 'retried',
    'invalid JSON': 'dropped',
    'a wrong type': 'dropped',
    'no key': 'dropped',
    'a wrong key': 'dropped',
    'a migration that the plan does not include': 'dropped',
    'too large': splits ? 'split' : 'dropped',
    'the upload stalls': losesStalled ? 'dropped' : 'retried',
  });
  for (const name of ['faster than the plan allows', 'the log is unavailable', 'the memory is used up'] as const) {
    expect([name, Number(responses[name].retryAfter) > 0]).toEqual([name, true]);
  }
  expect((await reader.events(token, 1)).map(({ uuid }) => uuid)).toEqual([taken.uuid]);
});

test("the table of SDK reactions contains all rows of PostHog's table", () => {
  expect(sdkRows.map(({ row }) => row)).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
});

test('stays ready while the log is unavailable, and releases the memory of rejected requests', async () => {
  const { token } = await createTestTenant(fixture.database);
  const [browser] = sdkRows;
  if (browser === undefined) throw new Error('there are rows');
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => send(browser, withoutLog, envelope(token, [event()]))),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
  expect((await fetch(`${withoutLog.url}/_readiness`)).status).toBe(200);
  await eventually(
    async () => /millrace_capture_in_flight_bytes 0\n/.test(await withoutLog.metrics.registry.metrics()),
    { what: 'nothing being held' },
  );
});
