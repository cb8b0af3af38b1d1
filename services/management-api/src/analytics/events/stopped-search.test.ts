import { sleep } from '@millrace/runtime';
import { createTestTenant, eventually, type TestTenant } from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent } from '../../testing/stored-data.ts';

/** Statement timeout in milliseconds. Only a statement that waits for a lock takes this long. */
const statementTimeoutMs = 3000;
const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
const monthOf = (days: number) => daysAgo(days).slice(0, 7);
/** Age in days of the only event in a month whose table is locked, so that the search cannot read it. */
const lockedDays = 110;

let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi({}, { statementTimeoutMs });
  await createMonths(api.database.sql, monthOf(150), monthOf(0));
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/events/`;
  for (const days of [0.01, 40, lockedDays, 150]) {
    await storeEvent(api.database.sql, tenant.environmentId, {
      ...{ event: 'rare', distinctId: String(days), timestamp: daysAgo(days), properties: { plan: 'pro' } },
    });
  }
});
afterAll(() => api.stop());

/**
 * Requests a page while the month's table is locked. Releases the lock after the response, or as soon as the
 * server needs the lock to read the events that it found.
 */
const getWhileLocked = (query: string) =>
  api.database.transaction(async (tx) => {
    await tx.query(`LOCK TABLE event_${monthOf(lockedDays).replace('-', '_')} IN ACCESS EXCLUSIVE MODE`);
    let isAnswered = false;
    const response = api.get(path + query, tenant.personalApiKey).finally(() => {
      isAnswered = true;
    });
    await eventually(async () => {
      const reading = await api.database.sql.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%WITH RECURSIVE found%'`,
      );
      return isAnswered || reading.length > 0;
    });
    return () => response;
  });
const agesOf = (results: { distinct_id: string }[]) => results.map(({ distinct_id: days }) => Number(days));
const ofPlan = (value: string) => `properties=${encodeURIComponent(JSON.stringify([{ key: 'plan', value }]))}`;

test.each([
  [ofPlan('pro'), [0.01, 40], [lockedDays, 150]],
  [ofPlan('none'), [], []],
])(
  'returns the events found before a search runs out of time, and continues with `next`: %s',
  async (query, found, rest) => {
    const { status, body } = await (await getWhileLocked(`?${query}`))();
    expect([status, agesOf(body.results)]).toEqual([200, found]);
    const searchedDays = (Date.now() - Date.parse(body.searched_until)) / dayMs;
    expect(searchedDays).toBeGreaterThan(40);
    expect(searchedDays).toBeLessThan(lockedDays);
    const { body: next } = await api.get(body.next, tenant.personalApiKey);
    expect(next).toEqual({ next: null, results: expect.any(Array) });
    expect(agesOf(next.results)).toEqual(rest);
    expect(agesOf(await readAllPages(api, `${body.next}&limit=1`, tenant.personalApiKey))).toEqual(rest);
  },
);

test('returns the events found so far after two seconds, even if the search could continue', async () => {
  const { sql } = api.database;
  const response = await api.database.transaction(async (tx) => {
    await tx.query(`LOCK TABLE event_${monthOf(lockedDays).replace('-', '_')} IN ACCESS EXCLUSIVE MODE`);
    const page = api.get(`${path}?${ofPlan('pro')}`, tenant.personalApiKey);
    await eventually(async () => {
      const waiting = await sql.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    // The next time range would take twice as long as this one, so the search stops.
    await sleep(1100);
    return () => page;
  });
  const { status, body } = await response();
  expect([status, agesOf(body.results)]).toEqual([200, [0.01, 40, lockedDays]]);
  const { body: next } = await api.get(body.next, tenant.personalApiKey);
  expect([next.next, agesOf(next.results)]).toEqual([null, [150]]);
});

test('returns 503 and suggests faster parameters when a search that cannot be divided takes too long', async () => {
  const { status, body } = await (await getWhileLocked(`?${ofPlan('pro')}&distinct_id=40`))();
  expect([status, body.code]).toEqual([503, 'query_timeout']);
  expect(body.detail).toBe('The search took too long. To make it faster, use a shorter range of `after` and `before`.');
  const skipped = await (await getWhileLocked(`?${ofPlan('pro')}&offset=3`))();
  expect(skipped.body.detail).toBe(
    'The search took too long. To make it faster, use `next` instead of `offset`, a shorter range of `after` and `before`, or `distinct_id`.',
  );
});
