import { createTestTenant, type TestTenant } from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storeGroup, storePerson } from '../../testing/stored-data.ts';

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

test('returns the type name, type index, key and properties of a group', async () => {
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

test('filters groups by type index, and by a substring of the key or name, ignoring case', async () => {
  expect((await keys()).sort()).toEqual(['company:Zeta', 'company:acme', 'team:acme']);
  expect(await keys('?group_type_index=1')).toEqual(['team:acme']);
  expect(await keys('?search=ZET')).toEqual(['company:Zeta']);
  expect(await keys('?search=acme&group_type_index=0')).toEqual(['company:acme']);
  expect(await keys('?group_type_index=4')).toEqual([]);
  expect((await keys('?group_key=acme')).sort()).toEqual(['company:acme', 'team:acme']);
  expect(await keys('?group_type_index=0&group_key=acme')).toEqual(['company:acme']);
  expect(await keys('?group_key=Acme')).toEqual([]);
});

test('lists the group types of the project by index, including types without groups', async () => {
  await api.database.sql.query(
    `INSERT INTO group_type_mapping (project_id, group_type, group_type_index, created_at) VALUES ($1, 'shop', 2, '2026-11-02T08:00:00Z')`,
    [tenant.projectId],
  );
  const { body } = await api.get(`/api/projects/${tenant.projectId}/groups_types/`, tenant.personalApiKey);
  expect(body).toMatchObject([
    { group_type: 'company', group_type_index: 0, created_at: expect.any(String) },
    { group_type: 'team', group_type_index: 1, created_at: expect.any(String) },
    { group_type: 'shop', group_type_index: 2, created_at: '2026-11-02T08:00:00Z' },
  ]);
});

test('counts the properties of groups by type', async () => {
  await storeGroup(api.database.sql, tenant.projectId, {
    type: 'company',
    index: 0,
    key: 'b',
    properties: { seats: 1 },
  });
  const { body } = await api.get(`${path}/property_definitions/`, tenant.personalApiKey);
  expect(body).toEqual({
    '0': [
      { name: 'seats', count: 2 },
      { name: 'name', count: 1 },
    ],
  });
});

test.each(['5', '-1', 'x', '1.5', ''])('returns 400 for groups with group_type_index=%s', async (index) => {
  const { status, body } = await api.get(`${path}?group_type_index=${index}`, tenant.personalApiKey);
  expect([status, body.attr]).toEqual([400, 'group_type_index']);
});

test('returns every group on exactly one page', async () => {
  for (let index = 0; index < 10; index += 1) {
    await storeGroup(api.database.sql, tenant.projectId, { type: 'team', index: 1, key: `ü'${index}` });
  }
  const seen = await readAllPages<Group>(api, `${path}/?limit=3`, tenant.personalApiKey);
  expect(seen.map((row) => row.group_type + row.group_key)).toHaveLength(13);
  expect(new Set(seen.map((row) => row.group_type + row.group_key)).size).toBe(13);
});

describe('the members of a group', () => {
  const recently = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const visit = (distinctId: string, properties: Record<string, unknown>, days = 1) =>
    storeEvent(api.database.sql, tenant.projectId, { distinctId, properties, timestamp: recently(days) });
  const person = (...distinctIds: string[]) => storePerson(api.database.sql, tenant.projectId, { distinctIds });
  beforeAll(() => createMonths(api.database.sql, recently(60).slice(0, 7), recently(0).slice(0, 7)));

  test('lists each current person who sent events of the group exactly once', async () => {
    const ada = await person('ada', 'ada-phone');
    const bob = await person('bob');
    for (const id of ['eve', 'old', 'team']) await person(id);
    for (const id of ['ada', 'ada-phone', 'bob', 'unknown']) await visit(id, { $group_0: 'acme' });
    await visit('eve', { $group_0: 'Acme' });
    const oldVisit = recently(40);
    await storeEvent(api.database.sql, tenant.projectId, {
      distinctId: 'old',
      properties: { $group_0: 'acme' },
      timestamp: oldVisit,
    });
    await visit('team', { $group_1: 'acme' });
    const wanted = `${path}/members?group_type_index=0&group_key=acme`;
    const seen = await readAllPages<{ uuid: string }>(api, `${wanted}&limit=1`, tenant.personalApiKey);
    expect(seen.map(({ uuid }) => uuid)).toEqual([bob, ada]);
    const { body } = await api.get(`${wanted}&after=-60d`, tenant.personalApiKey);
    expect(body.results.map((row: { name: string }) => row.name)).toEqual(['old', 'bob', 'ada']);
    expect(body.results[2].distinct_ids).toEqual(['ada', 'ada-phone']);
    expect(body.results.map((row: { event_count: number }) => row.event_count)).toEqual([1, 1, 2]);
    expect(Date.parse(body.results[0].last_event_at)).toBe(Date.parse(oldVisit));
    const none = await api.get(`${path}/members?group_type_index=4&group_key=acme`, tenant.personalApiKey);
    expect(none.body).toEqual({ next: null, results: [] });
  });

  test.each([
    ['group_key=acme', 'group_type_index'],
    ['group_type_index=0', 'group_key'],
    ['group_type_index=5&group_key=acme', 'group_type_index'],
    ['group_type_index=0&group_key=', 'group_key'],
    ['group_type_index=0&group_key=a%00', 'group_key'],
    ['group_type_index=0&group_key=a&after=soon', 'after'],
    ['group_type_index=0&group_key=a&cursor=x', 'cursor'],
  ])('returns 400 naming the parameter for %s', async (query, attr) => {
    const { status, body } = await api.get(`${path}/members?${query}`, tenant.personalApiKey);
    expect([status, body.attr]).toEqual([400, attr]);
  });
});
