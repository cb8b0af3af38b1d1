import { createPersonalApiKey } from '@millrace/accounts';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
  await createMonths(api.database.sql, '2026-11', '2026-11');
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/persons/`;
});
afterAll(() => api.stop());

const person = (...distinctIds: string[]) =>
  storePerson(api.database.sql, tenant.projectId, { distinctIds, properties: { email: 'ada@example.com' } });
const split = (id: string, body?: object, key = tenant.personalApiKey) =>
  api.send('POST', `${path}${id}/split/`, { key, body });
const get = async (id: string) => (await api.get(`${path}${id}/`, tenant.personalApiKey)).body;
const activity = async (id: string) => (await get(`${id}/activity`)).results;

test('splits off a person without properties for each distinct ID except the main ID', async () => {
  const uuid = await person('ada', 'phone', 'tablet');
  const { status, body } = await split(uuid);
  expect([status, body]).toEqual([
    201,
    {
      success: true,
      splits: ['phone', 'tablet'].map((distinct_id) => ({ distinct_id, uuid: expect.any(String) })),
    },
  ]);
  expect(await get('ada')).toMatchObject({ uuid, distinct_ids: ['ada'], properties: { email: 'ada@example.com' } });
  const { created_at } = await get(uuid);
  for (const [index, id] of ['phone', 'tablet'].entries()) {
    expect(await get(id)).toMatchObject({
      ...{ uuid: body.splits[index].uuid, distinct_ids: [id], properties: {}, is_identified: false, created_at },
    });
  }
});

test('moves the events of distinct IDs that are split off', async () => {
  const uuid = await person('ada', 'phone');
  const event = await storeEvent(api.database.sql, tenant.projectId, { distinctId: 'phone', personId: uuid });
  const eventsOf = async (id: string) =>
    (await api.get(`/api/projects/${tenant.projectId}/events/?person_id=${id}`, tenant.personalApiKey)).body.results;
  expect(await eventsOf(uuid)).toMatchObject([{ id: event }]);
  const [fresh] = (await split(uuid)).body.splits;
  expect(await eventsOf(uuid)).toEqual([]);
  expect(await eventsOf(fresh.uuid)).toMatchObject([{ id: event }]);
});

test('splits off all distinct IDs except main_distinct_id if distinct_ids_to_split is null', async () => {
  const uuid = await person('ada', 'phone');
  await split(uuid, { main_distinct_id: 'phone', distinct_ids_to_split: null });
  expect(await get(uuid)).toMatchObject({ distinct_ids: ['phone'] });
  expect((await get('ada')).uuid).not.toBe(uuid);
});

test('splits off only the IDs in distinct_ids_to_split, and always leaves the person with a main ID', async () => {
  const uuid = await person('ada', 'phone', 'tablet');
  const { body } = await split(uuid, { distinct_ids_to_split: ['ada', 'ada'] });
  expect(body.splits).toHaveLength(1);
  expect(await get(uuid)).toMatchObject({ distinct_ids: ['phone', 'tablet'] });
});

test('changes nothing and adds no log entry when a split is repeated', async () => {
  const uuid = await person('ada', 'phone');
  const [one, two] = await Promise.all([split('ada'), split('ada')]);
  expect([one.body.splits.length, two.body.splits.length].sort()).toEqual([0, 1]);
  expect(await split(uuid)).toMatchObject({ status: 201, body: { success: true, splits: [] } });
  expect(await activity(uuid)).toHaveLength(1);
});

test('logs the new persons of a split, but no distinct IDs', async () => {
  const uuid = await person('qwortz', 'qwortz-phone');
  const { splits } = (await split(uuid)).body;
  const records = await activity(uuid);
  expect(records).toMatchObject([
    {
      user: { email: expect.stringContaining('@') },
      ...{ activity: 'split_person', scope: 'Person', item_id: uuid },
      detail: {
        name: null,
        changes: [{ field: 'distinct_ids', before: null, after: { new_persons: [splits[0].uuid] } }],
      },
    },
  ]);
  expect(JSON.stringify(records)).not.toContain('qwortz');
});

describe('invalid requests to split a person', () => {
  test.each([
    [{ main_distinct_id: 'eve' }, 'main_distinct_id'],
    [{ main_distinct_id: 'a\u0000' }, 'main_distinct_id'],
    [{ main_distinct_id: 7 }, 'main_distinct_id'],
    [{ main_distinct_id: 'ada', distinct_ids_to_split: ['phone'] }, 'distinct_ids_to_split'],
    [{ distinct_ids_to_splt: ['phone'] }, 'distinct_ids_to_splt'],
    [{ distinct_ids_to_split: [] }, 'distinct_ids_to_split'],
    [{ distinct_ids_to_split: 'phone' }, 'distinct_ids_to_split'],
    [{ distinct_ids_to_split: ['phone', 'eve'] }, 'distinct_ids_to_split'],
    [{ distinct_ids_to_split: ['a\u0000'] }, 'distinct_ids_to_split'],
    [{ distinct_ids_to_split: ['phone', 'ada'] }, 'distinct_ids_to_split'],
  ])('returns 400 and moves no IDs for the body %j', async (body, attr) => {
    const uuid = await person('ada', 'phone');
    await person('eve');
    const response = await split(uuid, body);
    expect([response.status, response.body.attr?.split('__')[0]]).toEqual([400, attr]);
    expect(await get(uuid)).toMatchObject({ distinct_ids: ['ada', 'phone'] });
  });

  test('returns 400 and moves no IDs if the ID in the path matches two persons', async () => {
    const uuid = await person('ada', 'phone');
    const { id } = await get(uuid);
    await person(String(id));
    expect(await split(String(id))).toMatchObject({ status: 400, body: { attr: 'id' } });
  });

  test('returns 400 and moves no IDs for more than 1000 distinct IDs', async () => {
    const ids = Array.from({ length: 1003 }, (_, index) => `p${index}`);
    const uuid = await person(...ids);
    expect(await split(uuid)).toMatchObject({ status: 400, body: { attr: 'distinct_ids_to_split' } });
    expect((await split(uuid, { distinct_ids_to_split: ids.slice(1, 1001) })).body.splits).toHaveLength(1000);
    expect((await split(uuid)).body.splits).toHaveLength(2);
  });
});

test('returns 404 for splitting an unknown person or a person of another project', async () => {
  const other = await createTestTenant(api.database);
  const uuid = await storePerson(api.database.sql, other.projectId, { distinctIds: ['ada', 'phone'] });
  expect((await split(uuid)).status).toBe(404);
  expect((await split('ada')).status).toBe(404);
});

test('returns 403 for splitting a person with only the scope person:read', async () => {
  const uuid = await person('ada', 'phone');
  const { value } = await createPersonalApiKey(api.database.sql, {
    ...{ actor: null, userId: tenant.userId, label: 'k', scopes: ['person:read'] },
  });
  expect((await split(uuid, {}, value)).status).toBe(403);
});
