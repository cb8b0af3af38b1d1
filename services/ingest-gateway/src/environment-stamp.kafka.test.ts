import { createTestTenant } from '@millrace/testing';
import { sendV1, v1Batch, v1Event } from './testing/send-v1.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from './testing/test-gateway.ts';
import { readTopics, type TopicReader } from './testing/topic-reader.ts';

/**
 * Tests that every record contains its environment, so that the consumer does not depend on a key that may have been
 * deleted.
 */
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

const filler = 'x'.repeat(1000);
const nameless = { distinct_id: 'd', properties: {} };
const named = (properties: object) => ({ event: 'a', distinct_id: 'd', properties });
const large = Array.from({ length: 400 }, (_, index) => named({ index, filler }));

async function post(url: string, token: string, batch: unknown[], more: object = {}): Promise<number> {
  const body = JSON.stringify({ api_key: token, batch, ...more });
  return (await fetch(`${url}/batch/`, { method: 'POST', body })).status;
}

async function postParts(token: string): Promise<number> {
  const form = new FormData();
  form.append(
    'event',
    new Blob([JSON.stringify({ event: '$ai_generation', distinct_id: 'd' })], { type: 'application/json' }),
  );
  form.append('event.properties', new Blob(['{}'], { type: 'application/json' }));
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${gateway.url}/i/v0/ai`, { method: 'POST', body: form, headers })).status;
}

test.each<[string, number, (token: string) => Promise<number>]>([
  ['a small body', 1, (token) => post(gateway.url, token, [named({})])],
  ['a body that is repaired and serialized again', 1, (token) => post(gateway.url, token, [named({ torn: '\ud83c' })])],
  ['a large body', 400, (token) => post(gateway.url, token, large)],
  ['a migration', 1, (token) => post(gateway.url, token, [named({})], { historical_migration: true })],
  ['a body with a dropped event, including its warning', 2, (token) => post(gateway.url, token, [named({}), nameless])],
  ['Capture v1', 1, async (token) => (await sendV1(gateway, token, { body: v1Batch(v1Event()) })).status],
  [
    'a large body of Capture v1',
    400,
    async (token) => {
      const events = large.map(({ properties }) => v1Event({ properties }));
      return (await sendV1(gateway, token, { body: v1Batch(...events) })).status;
    },
  ],
  ['an event in parts', 1, postParts],
])('writes the environment ID to the records of %s', async (_name, count, send) => {
  const { token, environmentId } = await createTestTenant(fixture.database, { plan: 'full' });
  expect(await send(token)).toBe(200);
  const records = await reader.records(token, count);
  expect(new Set(records.map(({ value }) => value.environment_id))).toEqual(new Set([environmentId]));
});

test('writes the environment ID to the warnings about limits', async () => {
  const { token, environmentId } = await createTestTenant(fixture.database);
  const config = { dropEventsByTokenDistinctId: token, trafficReportMs: 100 };
  const blocking = await fixture.startGateway({ config });
  expect(await post(blocking.url, token, [named({})])).toBe(200);
  expect(await reader.warnings(token, 1)).toMatchObject([{ type: 'blocked_token', environment_id: environmentId }]);
});

test('ignores an environment ID that a client sends', async () => {
  const { token, environmentId } = await createTestTenant(fixture.database);
  expect(await post(gateway.url, token, [{ ...named({}), environment_id: 1 }], { environment_id: 1 })).toBe(200);
  expect(await reader.events(token, 1)).toMatchObject([{ environment_id: environmentId }]);
});

test('writes no environment ID while the API key cannot be looked up', async () => {
  const { token } = await createTestTenant(fixture.database);
  const sql = { query: () => Promise.reject(new Error('down')) };
  const alone = await fixture.startGateway({ keys: { sql } });
  expect(await post(alone.url, token, [named({})])).toBe(200);
  const [event] = await reader.events(token, 1);
  expect(event).not.toHaveProperty('environment_id');
});
