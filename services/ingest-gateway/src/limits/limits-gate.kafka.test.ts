import { createDatabase } from '@millrace/db';
import { createRedisStore } from '@millrace/runtime/cache';
import { createTestTenant, testServers } from '@millrace/testing';
import { quietLogger } from '../testing/quiet-logger.ts';
import { startServerProxy, throughProxy } from '../testing/server-proxy.ts';
import { createGatewayFixture, type GatewayFixture } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { sendBatch } from '../testing/traffic-probe.ts';

let fixture: GatewayFixture;
let reader: TopicReader;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  reader = await readTopics(fixture.log, [fixture.topics.live, fixture.topics.historical]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});

const opened: { stop(): Promise<void> }[] = [];
// Close the proxy after failed tests too, because it would keep the process running.
afterEach(async () => {
  for (const each of opened.splice(0)) await each.stop();
});

const migration = { isHistorical: true };

test('returns 402 for a historical migration that the plan does not include, but accepts live events', async () => {
  const { token } = await createTestTenant(fixture.database, { plan: 'free' });
  const gateway = await fixture.startGateway();
  const refused = await sendBatch(gateway, token, ['a'], migration);
  expect(refused.status).toBe(402);
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'payment_required', attr: 'historical_migration' });
  expect(await sendBatch(gateway, token, ['a'])).toMatchObject({ status: 200 });
});

test('adds no `plan_unchecked` to events if the plan includes migrations', async () => {
  const { token } = await createTestTenant(fixture.database);
  const gateway = await fixture.startGateway();
  await sendBatch(gateway, token, ['a'], migration);
  const [event] = await reader.events(token, 1);
  expect(event).toMatchObject({ historical_migration: true });
  expect(event).not.toHaveProperty('plan_unchecked');
});

test('accepts a migration and adds `plan_unchecked` to its events if the plan cannot be looked up', async () => {
  const { redisUrl } = testServers();
  const { token } = await createTestTenant(fixture.database, { plan: 'free' });
  const [redisProxy, postgresProxy] = [await startServerProxy(redisUrl), await startServerProxy(fixture.databaseUrl)];
  const logger = quietLogger();
  const cache = createRedisStore(throughProxy(redisUrl, redisProxy), logger, { keyPrefix: fixture.cachePrefix });
  const url = throughProxy(fixture.databaseUrl, postgresProxy);
  const database = createDatabase({ url, logger, poolSize: 1, connectTimeoutMs: 300, queryTimeoutMs: 300 });
  opened.push(cache, database, redisProxy, postgresProxy);
  await redisProxy.refuse();
  await postgresProxy.refuse();
  const gateway = await fixture.startGateway({ cache, keys: { sql: database.sql } });
  expect(await sendBatch(gateway, token, ['a', 'b'], migration)).toMatchObject({ status: 200 });
  expect(await sendBatch(gateway, token, ['live'])).toMatchObject({ status: 200 });
  const events = await reader.events(token, 3);
  const marked = events.filter((event) => event.plan_unchecked === true).map(({ distinct_id }) => distinct_id);
  expect(marked).toEqual(['a', 'b']);
});
