import { randomUUID } from 'node:crypto';
import { createPersonalApiKey } from '@millrace/accounts';
import { createLogger } from '@millrace/runtime';
import { createInProcessStore, createRedisStore, type KeyValueStore } from '@millrace/runtime/cache';
import {
  createTestTenant,
  eventually,
  patienceMs,
  type TestTenant,
  testServers,
  waitOutStepEnd,
} from '@millrace/testing';
import { noLimits, sessionKey, startTestApi, type TestApi } from '../testing/start-test-api.ts';
import { createRateLimit, toNetwork } from './rate-limit.ts';

const logger = createLogger('test', 'error');

describe.each([
  ['in the process', async () => createInProcessStore()],
  [
    'in Redis',
    async () => {
      const redis = createRedisStore(testServers().redisUrl, logger, {
        ...{ keyPrefix: `test:${randomUUID()}:`, commandTimeoutMs: patienceMs, silenceTimeoutMs: patienceMs },
      });
      await eventually(async () => redis.isHealthy(), { what: 'the connection to Redis' });
      return redis;
    },
  ],
])('rate limit windows that are counted %s', (_where, create) => {
  let keyValue: KeyValueStore;
  beforeAll(async () => {
    keyValue = await create();
  });
  afterAll(() => keyValue.stop());

  const limiter = (windows: { seconds: number; limit: number }[], clock: { at: number }) =>
    createRateLimit({ keyValue, name: randomUUID(), windows, now: () => clock.at * 1000 });

  test('key-039: allows five requests per minute, and rejects the sixth until the first ones have left the window', async () => {
    const clock = { at: 600_000 };
    const limit = limiter([{ seconds: 60, limit: 5 }], clock);
    for (let count = 0; count < 5; count += 1) expect(await limit.take('a')).toBeNull();
    const wait = await limit.take('a');
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(120);
    // Rejected requests do not count, so a client that waits for the returned number of seconds succeeds.
    for (let count = 0; count < 20; count += 1) await limit.take('a');
    clock.at += wait ?? 0;
    expect(await limit.take('a')).toBeNull();
  });

  test('key-040: counts each key separately', async () => {
    const limit = limiter([{ seconds: 60, limit: 1 }], { at: 600_000 });
    expect(await limit.take('a')).toBeNull();
    expect(await limit.take('a')).not.toBeNull();
    expect(await limit.take('b')).toBeNull();
  });

  test('counts the end of one minute and the start of the next together', async () => {
    const clock = { at: 600_059 };
    const limit = limiter([{ seconds: 60, limit: 10 }], clock);
    for (let count = 0; count < 10; count += 1) expect(await limit.take('a')).toBeNull();
    clock.at = 600_061;
    expect(await limit.take('a')).not.toBeNull();
    clock.at = 600_100;
    expect(await limit.take('a')).toBeNull();
  });

  test('applies both of two windows, and returns the time until the longer one allows a request', async () => {
    const clock = { at: 3_600_000 };
    const limit = limiter(
      [
        { seconds: 60, limit: 10 },
        { seconds: 3600, limit: 12 },
      ],
      clock,
    );
    for (let count = 0; count < 10; count += 1) expect(await limit.take('a')).toBeNull();
    expect(await limit.take('a')).toBeLessThanOrEqual(120);
    clock.at += 120;
    for (let count = 0; count < 2; count += 1) expect(await limit.take('a')).toBeNull();
    expect(await limit.take('a')).toBeGreaterThan(120);
  });

  test('a limit of 0 allows any number of requests', async () => {
    const limit = limiter([{ seconds: 60, limit: 0 }], { at: 600_000 });
    for (let count = 0; count < 50; count += 1) expect(await limit.take('a')).toBeNull();
  });

  test('concurrent requests cannot exceed the limit', async () => {
    const limit = limiter([{ seconds: 60, limit: 7 }], { at: 600_000 });
    const waits = await Promise.all(Array.from({ length: 7 }, () => limit.take('a')));
    expect(waits.filter((wait) => wait === null)).toHaveLength(7);
    expect(await limit.take('a')).not.toBeNull();
  });
});

test('rate limits count requests in memory while the counter store is unreachable', async () => {
  const unreachable = createRedisStore('redis://127.0.0.1:9', createLogger('test', 'error'));
  const limit = createRateLimit({ keyValue: unreachable, name: 'x', windows: [{ seconds: 60, limit: 2 }] });
  expect([await limit.take('a'), await limit.take('a')]).toEqual([null, null]);
  expect(await limit.take('a')).not.toBeNull();
  await unreachable.stop();
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
])('rate limits count the IP address %s as %s', (address, network) => {
  expect(toNetwork(address)).toBe(network);
});

describe('rate limits over HTTP', () => {
  let api: TestApi;
  let tenant: TestTenant;
  beforeEach(async () => {
    api = await startTestApi({
      limits: { ...noLimits, requestsPerMinute: 5, requestsPerHour: 100, wrongKeysPerMinute: 3 },
    });
    tenant = await createTestTenant(api.database);
  });
  afterEach(() => api.stop());

  test('key-039 to key-041: every route returns 429 with Retry-After, but only for the key that exceeds its limit', async () => {
    for (let count = 0; count < 5; count += 1) {
      expect((await api.get('/api/projects/', tenant.personalApiKey)).status).toBe(200);
    }
    for (const path of ['/api/projects/', `/api/organizations/${tenant.organizationId}/`]) {
      const { status, headers, body } = await api.get(path, tenant.personalApiKey);
      const seconds = Number(headers.get('retry-after'));
      expect([status, Number.isInteger(seconds) && seconds > 0]).toEqual([429, true]);
      expect(body).toEqual({
        type: 'throttled_error',
        code: 'throttled',
        detail: `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}. This personal API key sent too many requests.`,
        attr: null,
      });
    }
    const other = await createPersonalApiKey(api.database.sql, {
      actor: null,
      userId: tenant.userId,
      label: 'other',
      scopes: ['*'],
    });
    expect((await api.get('/api/projects/', other.value)).status).toBe(200);
  });

  test('requests without the required scope do not count, and get 403 even beyond the limit', async () => {
    const { value } = await createPersonalApiKey(api.database.sql, {
      actor: null,
      userId: tenant.userId,
      label: 'k',
      scopes: ['user:read'],
    });
    for (let count = 0; count < 10; count += 1) expect((await api.get('/api/projects/', value)).status).toBe(403);
    expect((await api.get('/api/users/@me/', value)).status).toBe(200);
  });

  test('requests with a wrong key count like requests without a key', async () => {
    const statuses: number[] = [];
    for (const key of [undefined, 'phx_wrong', undefined, undefined, undefined, 'phx_wrong']) {
      statuses.push((await api.get('/api/projects/', key)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429]);
  });

  test('blocks an IP address that guesses session IDs, after ten times as many requests as when it guesses keys', async () => {
    await waitOutStepEnd(60_000);
    const statuses: number[] = [];
    for (let count = 0; count < 33; count += 1) {
      const secret = String(count).padStart(43, 'x');
      statuses.push((await api.get('/api/projects/', sessionKey(secret))).status);
    }
    expect([statuses.indexOf(429), new Set(statuses)]).toEqual([31, new Set([401, 429])]);
  });

  test('blocks an IP address that guesses keys, except for keys that were valid there recently', async () => {
    expect((await api.get('/api/users/@me/', tenant.personalApiKey)).status).toBe(200);
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      statuses.push((await api.get('/api/projects/', `phx_${count}${'a'.repeat(47)}`)).status);
    }
    // The limit is three failures. The fourth failure still returns 401, and blocks the IP address for further
    // requests.
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429]);
    expect((await api.get('/api/users/@me/', tenant.personalApiKey)).status).toBe(200);
    const fresh = await createPersonalApiKey(api.database.sql, {
      actor: null,
      userId: tenant.userId,
      label: 'k',
      scopes: ['*'],
    });
    expect(await api.get('/api/users/@me/', fresh.value)).toMatchObject({
      status: 429,
      body: {
        detail: expect.stringMatching(
          / 127\.0\.0\.1 sent too many requests with an invalid or missing personal API key\.$/,
        ),
      },
    });
  });
});
