import { createSqlDatabase, type ProjectChanges, watchProjectChanges } from '@millrace/db/sql';
import { createFlagRows } from '@millrace/flags/store/testing/flag-rows';
import { createMetrics } from '@millrace/runtime';
import { createRedisStore } from '@millrace/runtime/cache';
import { createTestTenant, eventually, type FaultProxy, testServers } from '@millrace/testing';
import { storeTimeLimits } from '../access/store-limits.ts';
import { sendFlagRequest } from '../testing/flag-client.ts';
import { quietLogger } from '../testing/quiet-logger.ts';
import { startServerProxy, throughProxy } from '../testing/server-proxy.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let postgres: FaultProxy;
let redis: FaultProxy;
let changes: ProjectChanges;
/** API keys for which the gateway has received change notifications. */
const heardOf = new Set<string>();
const stops: (() => Promise<unknown>)[] = [];
const logger = quietLogger();

beforeAll(async () => {
  fixture = await createGatewayFixture();
  postgres = await startServerProxy(fixture.databaseUrl);
  redis = await startServerProxy(testServers().redisUrl);
  const database = createSqlDatabase({
    url: throughProxy(fixture.databaseUrl, postgres),
    logger,
    poolSize: 4,
    connectTimeoutMs: 300,
    statementTimeoutMs: 3000,
  });
  changes = watchProjectChanges({ database, logger, metrics: createMetrics({ withProcessMetrics: false }) });
  const cache = createRedisStore(throughProxy(testServers().redisUrl, redis), logger, {
    keyPrefix: fixture.cachePrefix,
  });
  await eventually(() => changes.isSubscribed() && cache.isHealthy(), { what: 'the stores' });
  changes.subscribe((change) => {
    for (const token of change?.tokens ?? []) heardOf.add(token);
  });
  gateway = await fixture.startGateway({ keys: { sql: database.sql, changes }, cache, timeLimits: storeTimeLimits });
  stops.push(changes.stop, cache.stop, database.stop, postgres.stop, redis.stop);
});
afterAll(async () => {
  await postgres.pass();
  await fixture.stop();
  for (const stop of stops) await stop();
});

async function flagged() {
  const rows = createFlagRows(fixture.database.sql);
  const { token, environmentId } = await createTestTenant(fixture.database);
  const properties = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }];
  await rows.addFlag(environmentId, 'plain', { filters: { groups: [{ rollout_percentage: 100 }] } });
  await rows.addFlag(environmentId, 'stored', { filters: { groups: [{ properties }] } });
  const half = { filters: { groups: [{ rollout_percentage: 50 }] }, ensure_experience_continuity: true };
  await rows.addFlag(environmentId, 'kept', half);
  await rows.addPerson(environmentId, ['u'], { plan: 'pro' });
  return { token, environmentId, rows };
}

const whenAway = {
  plain: 'true condition_match:0',
  stored: 'false failed:database_error:null',
  kept: 'false failed:hash_key_override_error:null',
};

test.each<[string, () => Promise<void> | void]>([
  ['is unreachable', () => postgres.refuse()],
  ['accepts connections and does not respond', () => postgres.blackHole()],
])(
  'flag-064: if PostgreSQL %s, flags that need no stored data are correct, and all others fail quickly',
  async (_name, fail) => {
    // After an outage, the gateway misses change notifications until it is subscribed again.
    await eventually(() => changes.isSubscribed(), { what: 'hearing of changes' });
    const { token, rows, environmentId } = await flagged();
    const asked = { token, distinct_id: 'u', $anon_distinct_id: 'a' };
    const { token: never } = await createTestTenant(fixture.database);
    // Wait for this key's notification. If it arrived later, it would remove the key from the cache again.
    await eventually(() => heardOf.has(never), { what: 'the announcement of the last project' });
    await eventually(async () => expect((await sendFlagRequest(gateway, asked)).flags.stored).toMatch(/^true/), {
      what: 'the flags',
    });
    // This request makes the gateway cache the key, but not the flags.
    await fetch(`${gateway.url}/capture/`, {
      method: 'POST',
      body: JSON.stringify({ api_key: never, event: 'a', distinct_id: 'b' }),
    });
    await fail();
    const waitedMs: number[] = [];
    for (let round = 0; round < 12; round++) {
      const began = performance.now();
      const reply = await sendFlagRequest(gateway, asked);
      waitedMs.push(performance.now() - began);
      expect([reply.status, reply.flags, reply.body.errorsWhileComputingFlags]).toEqual([200, whenAway, true]);
      const sent = await sendFlagRequest(gateway, { ...asked, person_properties: { plan: 'pro' } });
      expect(sent.flags.stored).toBe('true condition_match:0');
    }
    // The promised limit is 500 ms, but the test machine may be slow or pause for a moment.
    expect(waitedMs.sort((a, b) => a - b)[waitedMs.length >> 1]).toBeLessThan(2000);
    expect((await sendFlagRequest(gateway, { token: never, distinct_id: 'u' })).status).toBe(503);
    expect(await gateway.metrics.registry.metrics()).toMatch(/millrace_flag_circuit_breaker_open [01]/);
    await postgres.pass();
    await rows.addFlag(environmentId, 'new');
    await eventually(
      async () =>
        expect((await sendFlagRequest(gateway, asked)).flags).toMatchObject({
          new: 'true condition_match:0',
          stored: expect.stringMatching(/^true c/),
        }),
      { what: 'the recovery' },
    );
  },
);

test('evaluates flags correctly without Redis', async () => {
  const before = await flagged();
  // After an outage, an unknown key is looked up only when the breaker has closed.
  await eventually(
    async () => expect((await sendFlagRequest(gateway, { token: before.token, distinct_id: 'u' })).status).toBe(200),
    {
      what: 'the end of the rest',
    },
  );
  const { token } = await flagged();
  await redis.refuse();
  try {
    // Retry, because a slow machine may exceed the time limits for PostgreSQL.
    await eventually(
      async () => {
        const reply = await sendFlagRequest(gateway, { token, distinct_id: 'u' });
        expect([reply.status, reply.flags.stored]).toEqual([200, 'true condition_match:0']);
      },
      { what: 'the flags' },
    );
  } finally {
    await redis.pass();
  }
});
