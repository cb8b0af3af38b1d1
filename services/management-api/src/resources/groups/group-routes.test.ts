import { createTestTenant, type TestTenant } from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { storeGroup } from '../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/groups`;
  const { sql } = api.database;
  await storeGroup(sql, tenant.projectId, { type: 'company', index: 0, key: 'acme', properties: { name: 'Acme Ltd' } });
  await storeGroup(sql, tenant.projectId, { type: 'company', index: 0, key: 'Zeta', properties: { seats: 3 } });
  await storeGroup(sql, tenant.projectId, { type: 'team', index: 1, key: 'acme', properties: {} });
  const other = await createTestTenant(api.database);
  await storeGroup(sql, other.projectId, { type: 'theirs', index: 0, key: 'acme' });
});
afterAll(() => api.stop());

interface Group {
  group_type: string;
  group_key: string;
}
const keys = async (query = '') =>
  (await api.get(path + query, tenant.personalApiKey)).body.results.map(
    (row: Group) => `${row.group_type}:${row.group_key}`,
  );

test('a group shows its type by name and number, its key and its properties', async () => {
  const { body } = await api.get(`${path}/?search=ltd`, tenant.personalApiKey);
  expect(body).toEqual({
    next: null,
    results: [
      {
        group_type: 'company',
        group_type_index: 0,
        group_key: 'acme',
        group_properties: { name: 'Acme Ltd' },
        created_at: '2026-11-01T00:00:00Z',
      },
    ],
  });
});

test('filters: the number of the type, and a part of key or name in any case', async () => {
  expect((await keys()).sort()).toEqual(['company:Zeta', 'company:acme', 'team:acme']);
  expect(await keys('?group_type_index=1')).toEqual(['team:acme']);
  expect(await keys('?search=ZET')).toEqual(['company:Zeta']);
  expect(await keys('?search=acme&group_type_index=0')).toEqual(['company:acme']);
  expect(await keys('?group_type_index=4')).toEqual([]);
  expect((await keys('?group_key=acme')).sort()).toEqual(['company:acme', 'team:acme']);
  expect(await keys('?group_type_index=0&group_key=acme')).toEqual(['company:acme']);
  expect(await keys('?group_key=Acme')).toEqual([]);
});

test.each(['5', '-1', 'x', '1.5', ''])('group_type_index=%s is refused by name', async (index) => {
  const { status, body } = await api.get(`${path}?group_type_index=${index}`, tenant.personalApiKey);
  expect([status, body.attr]).toEqual([400, 'group_type_index']);
});

test('pages are complete', async () => {
  for (let index = 0; index < 10; index += 1) {
    await storeGroup(api.database.sql, tenant.projectId, { type: 'team', index: 1, key: `ü'${index}` });
  }
  const seen = await readAllPages<Group>(api, `${path}/?limit=3`, tenant.personalApiKey);
  expect(seen.map((row) => row.group_type + row.group_key)).toHaveLength(13);
  expect(new Set(seen.map((row) => row.group_type + row.group_key)).size).toBe(13);
});
