import { createPersonalApiKey } from '@millrace/accounts';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { permissionDenied } from '../../testing/expected-errors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storeGroup, storePerson } from '../../testing/stored-data.ts';

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  await createMonths(api.database.sql, daysAgo(120).slice(0, 7), daysAgo(0).slice(0, 7));
});
afterAll(() => api.stop());
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
});

const get = (query: string, key = tenant.personalApiKey) =>
  api.get(`/api/projects/${tenant.projectId}/groups/related/?${query}`, key);
const group = (index: number, key: string, properties = {}) =>
  storeGroup(api.database.sql, tenant.projectId, { type: `type${index}`, index, key, properties });
const visit = (distinctId: string, properties: Record<string, unknown>, timestamp = daysAgo(1)) =>
  storeEvent(api.database.sql, tenant.projectId, { distinctId, properties, timestamp });
const person = (...distinctIds: string[]) => storePerson(api.database.sql, tenant.projectId, { distinctIds });

it('returns persons and groups of other types that share events with a group', async () => {
  await group(0, 'acme', { name: 'Acme' });
  await group(0, 'zeta');
  await group(1, 'team a', { size: 3 });
  await group(1, 'team b');
  const ada = await person('ada', 'ada-phone');
  await person('bob');
  await visit('ada', { $group_0: 'acme', $group_1: 'team a' });
  await visit('ada-phone', { $group_0: 'acme', $group_1: 'a group that does not exist' });
  await visit('bob', { $group_0: 'zeta', $group_1: 'team b' });
  await visit('bob', { $group_0: 'acme', $group_1: 'team b' }, daysAgo(91));

  const { status, body } = await get('group_type_index=0&id=acme');
  expect([status, body.detail]).toEqual([200, undefined]);
  const nothingMore = { matched_recordings: [], value_at_data_point: null, created_at: expect.stringMatching(/Z$/) };
  expect(body).toEqual([
    {
      ...{ type: 'person', id: ada, uuid: ada, name: 'ada', distinct_ids: ['ada', 'ada-phone'], is_identified: false },
      ...{ properties: {}, ...nothingMore },
    },
    {
      ...{ type: 'group', id: 'team a', group_key: 'team a', group_type_index: 1 },
      ...{ properties: { size: 3 }, ...nothingMore },
    },
  ]);
  expect((await get('group_type_index=1&id=team%20b')).body).toMatchObject([
    { type: 'person', name: 'bob' },
    { type: 'group', id: 'zeta', group_type_index: 0 },
  ]);
  expect((await get('group_type_index=0&id=nothing')).body).toEqual([]);
});

it("returns the groups in a person's events", async () => {
  await group(0, 'acme');
  await group(1, 'acme');
  const ada = await person('ada', 'ada-phone');
  await visit('ada', { $group_0: 'acme' });
  await visit('ada-phone', { $group_1: 'acme' });
  await visit('bob', { $group_0: 'zeta' });
  for (const id of [ada, 'ada']) {
    expect((await get(`id=${id}`)).body).toMatchObject([
      { type: 'group', id: 'acme', group_type_index: 0 },
      { type: 'group', id: 'acme', group_type_index: 1 },
    ]);
  }
  expect((await get('id=unknown')).body).toEqual([]);
});

it('returns at most 100 related persons and 100 related groups per type', async () => {
  const { sql } = api.database;
  await group(0, 'acme');
  for (let index = 0; index < 101; index += 1) {
    await group(1, `g${index}`);
    await person(`p${index}`);
    await visit(`p${index}`, { $group_0: 'acme', $group_1: `g${index}` });
  }
  expect((await sql.query('SELECT 1 FROM "group" WHERE project_id = $1', [tenant.projectId])).length).toBe(102);
  const { body } = await get('group_type_index=0&id=acme');
  expect(body.map(({ type }: { type: string }) => type)).toEqual([
    ...Array(100).fill('person'),
    ...Array(100).fill('group'),
  ]);
  expect(body[0].name).toBe('p100');
});

it.each([
  ['group_type_index=0', 'id'],
  ['id=', 'id'],
  ['id=a&group_type_index=5', 'group_type_index'],
  ['id=a%00', 'id'],
])('returns 400 for related persons and groups with %s', async (query, attr) => {
  expect(await get(query)).toMatchObject({ status: 400, body: { attr } });
});

it('requires the scope person:read to list related persons', async () => {
  const { value } = await createPersonalApiKey(api.database.sql, {
    ...{ actor: null, userId: tenant.userId, label: 'groups only', scopes: ['group:read'] },
  });
  expect(await get('id=a', value)).toMatchObject(permissionDenied("API key missing required scope 'person:read'"));
});
