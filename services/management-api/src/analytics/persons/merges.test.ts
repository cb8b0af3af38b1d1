import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  await createMonths(api.database.sql, '2026-11', '2026-11');
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
});
afterAll(() => api.stop());

/** `day` is a day in November 2026. */
const send = (day: number, event: string, distinctId: string, properties: Record<string, unknown> = {}) =>
  storeEvent(api.database.sql, tenant.projectId, {
    event,
    distinctId,
    properties,
    timestamp: `2026-11-${String(day).padStart(2, '0')}T10:00:00Z`,
  });
const mergesOf = async (id: string) =>
  api.get(`/api/projects/${tenant.projectId}/persons/${encodeURIComponent(id)}/merges/`, tenant.personalApiKey);

test('lists each event that merged two distinct IDs, oldest first, and omits repeated merges', async () => {
  await storePerson(api.database.sql, tenant.projectId, {
    distinctIds: ['visitor', 'ada', 'Ada L.', 'phone', 'imported'],
    main: 'ada',
  });
  const first = await send(3, '$identify', 'ada', { $anon_distinct_id: 'visitor' });
  await send(5, '$identify', 'ada', { $anon_distinct_id: 'visitor' });
  const alias = await send(6, '$create_alias', 'ada', { alias: 'Ada L.' });
  const dangerous = await send(4, '$merge_dangerously', 'ada', { alias: 'phone' });
  await send(7, '$identify', 'ada');
  await send(7, '$pageview', 'ada', { alias: 'imported' });
  const { body } = await mergesOf('phone');
  const ada = (uuid: string, event: string, day: number, other: string) => ({
    ...{ uuid, event, timestamp: `2026-11-0${day}T10:00:00Z` },
    ...{ distinct_id: 'ada', other_distinct_id: other, is_joined: true },
  });
  expect(body.merges).toEqual([
    ada(first, '$identify', 3, 'visitor'),
    ada(dangerous, '$merge_dangerously', 4, 'phone'),
    ada(alias, '$create_alias', 6, 'Ada L.'),
  ]);
  expect(body.distinct_ids).toEqual(
    ['visitor', 'ada', 'Ada L.', 'phone', 'imported'].map((distinct_id) => ({
      ...{ distinct_id, moves: 0 },
      is_explained: distinct_id !== 'imported',
    })),
  );
});

test("marks merge events whose other ID is not the person's, and IDs that no event merged with the main ID", async () => {
  const { sql } = api.database;
  await storePerson(sql, tenant.projectId, { distinctIds: ['bob', 'laptop', 'tablet'], main: 'bob' });
  await storePerson(sql, tenant.projectId, { distinctIds: ['eve'] });
  await sql.query(`UPDATE person_distinct_id SET version = 2 WHERE project_id = $1 AND distinct_id = 'tablet'`, [
    tenant.projectId,
  ]);
  await send(2, '$identify', 'bob', { $anon_distinct_id: 'eve' });
  await send(3, '$identify', 'tablet', { $anon_distinct_id: 'laptop' });
  const { body } = await mergesOf('bob');
  expect(body.merges.map((one: { is_joined: boolean }) => one.is_joined)).toEqual([false, true]);
  expect(body.distinct_ids).toEqual([
    { distinct_id: 'bob', moves: 0, is_explained: true },
    { distinct_id: 'laptop', moves: 0, is_explained: false },
    { distinct_id: 'tablet', moves: 2, is_explained: false },
  ]);
});

test('returns 404 for the merge history of an unknown person', async () => {
  expect((await mergesOf('unknown')).status).toBe(404);
});
