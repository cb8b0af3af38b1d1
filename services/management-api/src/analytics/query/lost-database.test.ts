/**
 * Tests queries whose connection to PostgreSQL is interrupted. Requests must fail immediately, and must release their
 * slots and connections.
 */

import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import {
  createFaultProxy,
  createTestDatabase,
  createTestTenant,
  eventually,
  type FaultProxy,
  type TestTenant,
} from '@millrace/testing';
import { lockTable } from '../../testing/lock-table.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent } from '../../testing/stored-data.ts';

let direct: Database;
let proxy: FaultProxy;
let api: TestApi;
let own: TestTenant;
const ends: (() => Promise<void>)[] = [];
beforeAll(async () => {
  const testDatabase = await createTestDatabase();
  ends.push(() => testDatabase.drop());
  direct = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error'), poolSize: 3 });
  ends.push(() => direct.stop());
  const url = new URL(testDatabase.url);
  proxy = await createFaultProxy({ targetHost: url.hostname, targetPort: Number(url.port || 5432) });
  ends.push(() => proxy.stop());
  [url.hostname, url.port] = [proxy.host, String(proxy.port)];
  api = await startTestApi({}, { databaseUrl: url.toString() });
  ends.push(() => api.stop());
  own = await createTestTenant(direct);
  await createMonths(direct.sql, '2026-11', '2026-11');
  await storeEvent(direct.sql, own.projectId, { event: 'order', timestamp: '2026-11-10T12:00:00Z' });
});
afterAll(async () => {
  await proxy.pass();
  for (const end of ends.reverse()) await end();
});

const path = () => `/api/projects/${own.projectId}/query/`;
/** Sends a query with a refresh mode that does not use the cache. */
const ask = (refresh: string, more: object = {}) =>
  api.send('POST', path(), {
    key: own.personalApiKey,
    body: {
      query: {
        ...{ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'order' }] },
        dateRange: { date_from: '2026-11-10', date_to: '2026-11-10' },
      },
      refresh,
      ...more,
    },
  });
const running = async () =>
  (
    await direct.sql.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
  ).length;

async function loseQuery(fault: 'cut' | 'refuse', refresh: string) {
  const lock = await lockTable(direct, 'event');
  const response = ask(refresh, { client_query_id: fault });
  await eventually(async () => (await running()) === 1, { what: 'the query to run' });
  await proxy[fault]();
  return { response: await response, release: lock.release };
}

/**
 * Checks that a query that lost its connection has released its slot. Otherwise, the next query waits for the slot and
 * fails.
 */
async function expectFreeSlot() {
  const { status, body } = await ask('force_blocking');
  expect([status, body.results?.[0].count]).toEqual([200, 1]);
}

const unavailable = { type: 'server_error', code: 'unavailable' };

test('returns 503 to waiting requests when database connections are cut, and runs subsequent queries', async () => {
  for (let count = 0; count < 3; count += 1) {
    const { response, release } = await loseQuery('cut', 'force_blocking');
    expect(response).toMatchObject({ status: 503, body: unavailable });
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    await release();
  }
  await expectFreeSlot();
});

test('returns 503 while PostgreSQL is unreachable, and runs queries as soon as it recovers', async () => {
  const { response, release } = await loseQuery('refuse', 'force_blocking');
  expect([response, await ask('force_blocking')]).toMatchObject([{ status: 503 }, { status: 503, body: unavailable }]);
  await release();
  await proxy.pass();
  await expectFreeSlot();
});

test('reports a lost database connection in the status of a background query', async () => {
  const { response, release } = await loseQuery('cut', 'force_async');
  expect(response.status).toBe(202);
  const status = await eventually(async () => {
    const { body } = await api.get(`${path()}cut/`, own.personalApiKey);
    return body.query_status.complete && body.query_status;
  });
  expect(status).toMatchObject({ error: true, error_message: 'The query failed. Run it again later.', results: null });
  await release();
  await expectFreeSlot();
});
