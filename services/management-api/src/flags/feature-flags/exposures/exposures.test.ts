import type { Sql } from '@millrace/db';
import { createEventStore, createSqlEngine } from '@millrace/insights';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../../testing/stored-data.ts';
import { countExposures } from './exposure-store.ts';

let api: TestApi;
let tenant: TestTenant;
let flagId: number;
beforeAll(async () => {
  api = await startTestApi();
  await createMonths(api.database.sql, '2026-10', '2026-11');
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  const body = { key: 'checkout', filters: { groups: [{}] } };
  const flag = await api.send('POST', `/api/projects/${tenant.projectId}/feature_flags/`, {
    key: tenant.personalApiKey,
    body,
  });
  flagId = flag.body.id;
});
afterAll(() => api.stop());

const ask = (query: Record<string, string>, key = tenant.personalApiKey, id = flagId) =>
  api.get(`/api/projects/${tenant.projectId}/feature_flags/${id}/exposures/?${new URLSearchParams(query)}`, key);
const november = { date_from: '2026-11-01', date_to: '2026-11-30' };
const store = (event: string, distinctId: string, timestamp: string, properties: Record<string, unknown> = {}) =>
  storeEvent(api.database.sql, tenant.environmentId, { event, distinctId, timestamp, properties });
const called = (distinctId: string, response: unknown, timestamp: string, flag = 'checkout') =>
  store('$feature_flag_called', distinctId, timestamp, { $feature_flag: flag, $feature_flag_response: response });
const person = (...distinctIds: string[]) => storePerson(api.database.sql, tenant.environmentId, { distinctIds });
const counted = (variant: string, exposures: number, persons: number, conversions: number | null = null) => ({
  variant,
  exposures,
  persons,
  conversions,
});

test('counts each person in an A/B test once, and counts persons who saw two variants separately', async () => {
  await person('ada', 'ada-phone');
  for (const id of ['bob', 'cleo', 'dan']) await person(id);
  await called('ada', 'test', '2026-11-10T10:00:00Z');
  await called('ada-phone', 'test', '2026-11-11T10:00:00Z');
  await called('bob', 'control', '2026-11-10T11:00:00Z');
  await called('cleo', 'control', '2026-11-10T12:00:00Z');
  await called('cleo', 'test', '2026-11-11T12:00:00Z');
  await called('dan', 'control', '2026-11-11T13:00:00Z');
  await called('dan', 'test', '2026-11-11T13:00:00Z', 'another');
  await called('early', 'test', '2026-10-31T23:59:59Z');
  await store('order', 'ada-phone', '2026-11-12T00:00:00Z');
  await store('order', 'ada', '2026-11-13T00:00:00Z');
  await store('order', 'bob', '2026-11-10T10:59:59Z');
  await store('order', 'cleo', '2026-11-10T12:00:01Z');
  const { status, body } = await ask({ ...november, conversion_event: 'order' });
  expect([status, body]).toEqual([
    200,
    {
      date_from: '2026-11-01T00:00:00Z',
      date_to: '2026-12-01T00:00:00Z',
      timezone: 'UTC',
      conversion_event: 'order',
      persons: 4,
      exposures: 6,
      variants: [counted('$multiple', 2, 1, 1), counted('control', 2, 2, 0), counted('test', 2, 1, 1)],
      days: [
        { day: '2026-11-10', ...counted('$multiple', 1, 1, 1) },
        { day: '2026-11-10', ...counted('control', 1, 1, 0) },
        { day: '2026-11-10', ...counted('test', 1, 1, 1) },
        { day: '2026-11-11', ...counted('$multiple', 1, 0, 0) },
        { day: '2026-11-11', ...counted('control', 1, 1, 0) },
        { day: '2026-11-11', ...counted('test', 1, 0, 0) },
      ],
    },
  ]);
  expect((await ask(november)).body.variants).toEqual([
    counted('$multiple', 2, 1),
    counted('control', 2, 2),
    counted('test', 2, 1),
  ]);
});

test('counts exposures to boolean flags and exposures without a value, and returns zeros if there are no exposures', async () => {
  expect((await ask(november)).body).toMatchObject({ persons: 0, exposures: 0, variants: [], days: [] });
  await called('a', true, '2026-11-10T10:00:00Z');
  await called('b', false, '2026-11-10T10:00:00Z');
  await called('c', undefined, '2026-11-10T10:00:00Z');
  expect((await ask(november)).body.variants).toEqual([
    counted('$none', 1, 1),
    counted('false', 1, 1),
    counted('true', 1, 1),
  ]);
});

test("counts exposures by day in the project's time zone, including the last day", async () => {
  await api.send('PATCH', `/api/projects/${tenant.projectId}/`, {
    key: tenant.personalApiKey,
    body: { timezone: 'America/New_York' },
  });
  await called('a', true, '2026-11-11T03:00:00Z');
  await called('b', true, '2026-11-11T06:00:00Z');
  const { body } = await ask({ date_from: '2026-11-10', date_to: '2026-11-10' });
  expect([body.date_from, body.date_to]).toEqual(['2026-11-10T05:00:00Z', '2026-11-11T05:00:00Z']);
  expect(body.days).toEqual([{ day: '2026-11-10', ...counted('true', 1, 1) }]);
});

test.each([
  ['date_from', { date_from: 'soon' }],
  ['date_to', { date_from: '2026-11-01', date_to: '2026-10-01' }],
  ['date_from', { date_from: '2026-01-01', date_to: '2026-11-01' }],
  ['conversion_event', { conversion_event: '' }],
])('%s returns 400 for exposures with %j, naming the field', async (attr, query) => {
  expect(await ask(query as Record<string, string>)).toMatchObject({ status: 400, body: { attr } });
});

const readOn = (sql: Sql) => ({
  store: { events: createEventStore(createSqlEngine(sql, { isRepeated: true })), maxMs: 10_000 },
  ...{ sql, projectId: tenant.environmentId, signal: new AbortController().signal },
});

test('combines rare flag responses as $other, and stops reading exposures at the limit', async () => {
  for (let n = 0; n < 6; n += 1) await called(`p${n}`, n < 3 ? 'test' : `made-up-${n}`, '2026-11-10T10:00:00Z');
  const query = {
    flagKey: 'checkout',
    from: new Date('2026-11-01T00:00:00Z'),
    to: new Date('2026-12-01T00:00:00Z'),
    timeZone: 'UTC',
    conversionEvent: null,
    maxExposures: 100,
    maxVariants: 1,
  };
  const { sql } = api.database;
  expect(await countExposures(readOn(sql), query)).toMatchObject([
    { variant: '$other', persons: 3, exposures_read: 6 },
    { variant: 'test', persons: 3, exposures_read: 6 },
  ]);
  expect(await countExposures(readOn(sql), { ...query, maxExposures: 4 })).toMatchObject([{ exposures_read: 5 }, {}]);
});

test('reads exposures through the index on event names, without reading other events', async () => {
  const { sql } = api.database;
  await sql.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     SELECT 1000000 + n % 50, '2026-11-05T00:00:00Z'::timestamptz + n * interval '1 minute', gen_random_uuid(), 'x', 'd',
            gen_random_uuid(), '{}', now() FROM generate_series(1, 20000) AS n`,
  );
  await called('a', true, '2026-11-10T10:00:00Z');
  await sql.query('ANALYZE event');
  let plan = '';
  const explaining: Sql = {
    query: async (text, values) => {
      if (!text.includes('exposure AS')) return sql.query(text, values);
      const rows = await sql.query<Record<string, string>>(`EXPLAIN ${text}`, values);
      plan = rows.map((row) => Object.values(row)[0]).join('\n');
      return [];
    },
  };
  await countExposures(readOn(explaining), {
    flagKey: 'checkout',
    from: new Date('2026-11-01T00:00:00Z'),
    to: new Date('2026-12-01T00:00:00Z'),
    timeZone: 'UTC',
    conversionEvent: 'order',
    maxExposures: 1000,
    maxVariants: 50,
  });
  expect(plan).toMatch(/event_2026_11_project_id_event_timestamp_/);
  expect(plan).not.toMatch(/Seq Scan on event/);
});

test("returns 404 for the exposures of an unknown flag and of another project's flag", async () => {
  expect((await ask({}, tenant.personalApiKey, 2_000_000_000)).status).toBe(404);
  const foreign = await createTestTenant(api.database);
  expect((await ask({}, foreign.personalApiKey)).status).toBe(404);
});
