import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
let adaId: string;
beforeAll(async () => {
  api = await startTestApi();
  const { sql } = api.database;
  await createMonths(sql, '2026-10', '2026-11');
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/events`;
  // In Berlin, 25 October 2026 has 25 hours.
  await sql.query("UPDATE environment SET timezone = 'Europe/Berlin' WHERE id = $1", [tenant.environmentId]);
  adaId = await storePerson(sql, tenant.projectId, { distinctIds: ['ada', 'ada-phone'], properties: { plan: 'pro' } });
  const stored = [
    { timestamp: '2026-10-24T21:59:59Z', event: 'visit', distinctId: 'ada' },
    { timestamp: '2026-10-24T22:00:00Z', event: 'visit', distinctId: 'ada-phone', properties: { browser: 'Chrome' } },
    { timestamp: '2026-10-25T00:30:00Z', event: 'visit', distinctId: 'bob' },
    { timestamp: '2026-10-25T01:30:00Z', event: 'buy', distinctId: 'bob', properties: { browser: 'Firefox' } },
    { timestamp: '2026-10-25T22:59:59Z', event: 'buy', distinctId: 'ada' },
    { timestamp: '2026-10-25T23:00:00Z', event: 'visit', distinctId: 'unknown', personId: bobId },
  ];
  for (const one of stored) await storeEvent(sql, tenant.projectId, one);
  const other = await createTestTenant(api.database);
  await storeEvent(sql, other.projectId, { timestamp: '2026-10-25T01:30:00Z' });
});
afterAll(() => api.stop());

const bobId = '0193f0c5-7a4e-5000-8000-000000000b0b';
const days = 'interval=day&after=2026-10-23T22:00:00Z&before=2026-10-27';

const ask = (query: string) => api.get(`${path}/counts?${query}`, tenant.personalApiKey);
async function counts(query: string): Promise<Record<string, number>> {
  const { status, body } = await ask(query);
  expect([status, body.detail]).toEqual([200, undefined]);
  const results: { start: string; count: number }[] = body.results;
  expect(body.total).toBe(results.reduce((sum, { count }) => sum + count, 0));
  return Object.fromEntries(results.map(({ start, count }) => [start, count]));
}

test('counts events per day in the project time zone, including empty days and the day of a clock change', async () => {
  expect((await ask(days)).body).toEqual({
    interval: 'day',
    timezone: 'Europe/Berlin',
    total: 6,
    results: [
      { start: '2026-10-23T22:00:00Z', count: 1 },
      { start: '2026-10-24T22:00:00Z', count: 4 },
      { start: '2026-10-25T23:00:00Z', count: 1 },
      { start: '2026-10-26T23:00:00Z', count: 0 },
    ],
  });
});

test('counts the repeated hour at a clock change as two hours', async () => {
  expect(await counts('after=2026-10-25T00:00:00Z&before=2026-10-25T03:00:00Z')).toEqual({
    '2026-10-25T00:00:00Z': 1,
    '2026-10-25T01:00:00Z': 1,
    '2026-10-25T02:00:00Z': 0,
  });
});

test('counts events per minute, and excludes both ends of the time range', async () => {
  const span = 'after=2026-10-24T22:00:00Z&before=2026-10-25T01:30:00Z';
  const { body } = await ask(`interval=minute&${span}`);
  expect([body.total, body.results.length]).toEqual([1, 210]);
  expect((await api.get(`${path}?${span}`, tenant.personalApiKey)).body.results).toHaveLength(1);
  expect(body.results.at(30 + 120)).toEqual({ start: '2026-10-25T00:30:00Z', count: 1 });
});

test.each([
  ['event=visit', 4],
  ['distinct_id=ada', 2],
  [`distinct_id=ada&event=buy`, 1],
  ['person_id=ADA', 3],
  ['person_id=ADA&distinct_id=ada-phone', 1],
  [`person_id=${bobId}`, 1],
  ['properties=[{"key":"browser","operator":"is_set"}]', 2],
  ['properties=[{"key":"browser","value":"Chrome"}]&distinct_id=ada-phone', 1],
  ['properties=[{"key":"plan","value":"pro","type":"person"}]', 3],
  ['event=none', 0],
])('counts as many events for %s as the list of events returns', async (filter, expected) => {
  const query = `${days}&${filter.replace('ADA', adaId)}`;
  expect((await ask(query)).body.total).toBe(expected);
  const listed = await api.get(`${path}?${query.replace('interval=day&', '')}`, tenant.personalApiKey);
  expect(listed.body.results).toHaveLength(expected);
});

test('counts the events of the last 24 hours by default, and returns 404 for other projects', async () => {
  const { body } = await ask('');
  expect([body.interval, body.total, [24, 25].includes(body.results.length)]).toEqual(['hour', 0, true]);
  const other = await createTestTenant(api.database);
  expect((await api.get(`${path}/counts`, other.personalApiKey)).status).toBe(404);
});

test.each([
  ['interval=week', 'interval'],
  ['interval=minute&after=-25h', 'after'],
  ['interval=hour&after=-63d', 'after'],
  ['interval=day&after=-4y', 'after'],
  ['after=2026-11-02&before=2026-11-01', 'after'],
  ['after=2026-11-02&before=2026-11-02', 'after'],
  ['after=9999-01-01', 'after'],
  ['before=soon', 'before'],
  ['before=0999-12-31', 'before'],
  ['after=0001-01-01&before=0001-01-02', 'after'],
  ['person_id=1', 'person_id'],
  ['properties=[{}]', 'properties__0__key'],
  [`${days}&properties=[{"key":"browser","operator":"regex","value":"\\\\p{L}"}]`, 'properties__0__value'],
])('returns 400 naming the parameter when events are counted with %s', async (query, attr) => {
  const { status, body } = await ask(query);
  expect([status, body.type, body.attr]).toEqual([400, 'validation_error', attr]);
});

test('counts events from the earliest to the latest supported time', async () => {
  for (const before of ['1000-02-01', '9999-12-31T23:59:59Z']) {
    for (const interval of ['minute', 'day']) {
      const { status, body } = await ask(`interval=${interval}&before=${before}`);
      expect([before, status, body.total]).toEqual([before, 200, 0]);
    }
  }
});
