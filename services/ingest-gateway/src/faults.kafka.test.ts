import { createDatabase } from '@millrace/db';
import { createKafkaLog } from '@millrace/event-log';
import { createRedisStore } from '@millrace/runtime/cache';
import { createTestTenant, eventually, testServers } from '@millrace/testing';
import { storeTimeLimits } from './access/store-limits.ts';
import { quietLogger } from './testing/quiet-logger.ts';
import { openRawConnection } from './testing/raw-http.ts';
import { startServerProxy, throughProxy } from './testing/server-proxy.ts';
import {
  createGatewayFixture,
  type GatewayFixture,
  type GatewayOptions,
  type TestGateway,
} from './testing/test-gateway.ts';
import { readTopics } from './testing/topic-reader.ts';

let fixture: GatewayFixture;
const logger = quietLogger();

beforeAll(async () => {
  fixture = await createGatewayFixture();
});
/** Functions that close what a failed test has left open. */
const leftOpen: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  await fixture.stop();
  await Promise.allSettled(leftOpen.map((close) => close()));
});

const bodyFor = (token: string, name = 'a') => JSON.stringify({ api_key: token, event: name, distinct_id: 'b' });

async function post(gateway: TestGateway, body: string) {
  const response = await fetch(`${gateway.url}/capture/`, { method: 'POST', body });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

test.each([
  ['is unreachable', 'tcp://127.0.0.1:1'],
  ['accepts connections and does not respond', null],
])('topic-018 returns 503 with Retry-After, and never 200, if the log %s', async (_name, address) => {
  const { token } = await createTestTenant(fixture.database);
  const proxy = await startServerProxy('tcp://127.0.0.1:1');
  proxy.blackHole();
  const broker = address === null ? `127.0.0.1:${proxy.port}` : new URL(address).host;
  const log = createKafkaLog({ brokers: [broker], clientId: 'gateway-test', logger });
  leftOpen.push(log.close, proxy.stop);
  const gateway = await fixture.startGateway({ log });
  const responses = await Promise.all([post(gateway, bodyFor(token)), post(gateway, bodyFor(token))]);
  for (const { status, headers, body } of responses) {
    expect(status).toBe(503);
    expect(body).toMatchObject({ type: 'server_error', attr: null });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await gateway.stop();
  await log.close();
  await proxy.stop();
});

describe('failures of PostgreSQL and Redis', () => {
  const impatient = { timeLimits: storeTimeLimits };

  async function startBehindProxies(parts: GatewayOptions = {}) {
    const postgresProxy = await startServerProxy(fixture.databaseUrl);
    const redisProxy = await startServerProxy(testServers().redisUrl);
    const database = createDatabase({
      url: throughProxy(fixture.databaseUrl, postgresProxy),
      logger,
      poolSize: 2,
      connectTimeoutMs: 3000,
      queryTimeoutMs: 3500,
    });
    const cache = createRedisStore(throughProxy(testServers().redisUrl, redisProxy), logger, {
      keyPrefix: fixture.cachePrefix,
    });
    leftOpen.push(cache.stop, database.stop, postgresProxy.stop, redisProxy.stop);
    // Cached keys expire immediately, so that every request looks its key up.
    const gateway = await fixture.startGateway({ ...parts, cache, keys: { sql: database.sql, knownForMs: 0 } });
    await eventually(() => cache.isHealthy(), { what: 'the connection to Redis' });
    return {
      gateway,
      postgresProxy,
      redisProxy,
      async stop() {
        await gateway.stop();
        await cache.stop();
        await Promise.all([postgresProxy.stop(), redisProxy.stop(), database.stop()]);
      },
    };
  }

  test.each(['refuse', 'blackHole'] as const)(
    'accepts a known API key while PostgreSQL and Redis are down (%s)',
    async (fault) => {
      const { token } = await createTestTenant(fixture.database);
      const { gateway, postgresProxy, redisProxy, stop } = await startBehindProxies(impatient);
      expect(await post(gateway, bodyFor(token))).toMatchObject({ status: 200 });
      await postgresProxy[fault]();
      await redisProxy[fault]();
      for (let i = 0; i < 5; i++) expect(await post(gateway, bodyFor(token))).toMatchObject({ status: 200 });
      await stop();
    },
  );

  test('accepts an unknown API key while PostgreSQL and Redis refuse connections, and rejects it afterwards', async () => {
    const { gateway, postgresProxy, redisProxy, stop } = await startBehindProxies(impatient);
    await Promise.all([postgresProxy.refuse(), redisProxy.refuse()]);
    expect(await post(gateway, bodyFor('phc_nobody'))).toMatchObject({ status: 200 });
    await Promise.all([postgresProxy.pass(), redisProxy.pass()]);
    await eventually(async () => expect((await post(gateway, bodyFor('phc_nobody'))).status).toBe(401), {
      what: 'a refusal after the stores are back',
    });
    await stop();
  });

  test('tells clients with an unknown API key to retry while neither PostgreSQL nor Redis responds', async () => {
    const { gateway, postgresProxy, redisProxy, stop } = await startBehindProxies(impatient);
    postgresProxy.blackHole();
    redisProxy.blackHole();
    const keys = Array.from({ length: 20 }, (_, index) => `phc_nobody_${index}`);
    for (const { status, headers, body } of await Promise.all(keys.map((key) => post(gateway, bodyFor(key))))) {
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
      expect(body.detail).toBe('Could not check the API key. Try again in a second.');
    }
    await Promise.all([postgresProxy.pass(), redisProxy.pass()]);
    await eventually(async () => expect((await post(gateway, bodyFor('phc_nobody_0'))).status).toBe(401), {
      what: 'a refusal after the stores are back',
    });
    await stop();
  });

  test('looks API keys up in PostgreSQL if Redis is down', async () => {
    const { token } = await createTestTenant(fixture.database);
    const { gateway, redisProxy, stop } = await startBehindProxies();
    await redisProxy.refuse();
    expect(await post(gateway, bodyFor(token))).toMatchObject({ status: 200 });
    expect(await post(gateway, bodyFor('phc_nobody'))).toMatchObject({ status: 401 });
    await stop();
  });
});

describe('stopping the gateway', () => {
  test('completes requests in progress, refuses new connections, and closes idle connections', async () => {
    const { token } = await createTestTenant(fixture.database);
    const reader = await readTopics(fixture.log, [fixture.topics.live]);
    const gateway = await fixture.startGateway();
    const [busy, idle, silent] = await Promise.all([1, 2, 3].map(() => openRawConnection(gateway.port)));
    if (!busy || !idle || !silent) throw new Error('no connections');
    const body = bodyFor(token, 'last words');
    const request = `POST /capture/ HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    idle.write(request);
    expect(await idle.response()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });
    busy.write(request.slice(0, -10));
    const underWay = new RegExp(`millrace_capture_in_flight_bytes ${body.length - 10}`);
    await eventually(async () => underWay.test(await gateway.metrics.registry.metrics()), {
      what: 'the request being under way',
    });

    const stopped = gateway.stop();
    await idle.closed;
    await expect(openRawConnection(gateway.port)).rejects.toThrow();
    busy.write(request.slice(-10));
    expect(await busy.response()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await stopped;
    await Promise.all([busy.closed, silent.closed]);
    expect((await reader.events(token, 2)).map(({ event }) => event)).toEqual(['last words', 'last words']);
    await reader.stop();
  });
});
