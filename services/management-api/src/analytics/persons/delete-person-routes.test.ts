import { randomUUID } from 'node:crypto';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { notFound, validationError } from '../../testing/expected-errors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  path = `/api/environments/${tenant.environmentId}/persons`;
});
afterAll(() => api.stop());

const person = (...distinctIds: string[]) =>
  storePerson(api.database.sql, tenant.environmentId, { distinctIds, properties: { email: 'ada@example.com' } });
const get = (rest: string) => api.get(`${path}/${rest}`, tenant.personalApiKey);
const remove = (id: string) => api.send('DELETE', `${path}/${id}`, { key: tenant.personalApiKey });
const removeAll = (body: object, query = '') =>
  api.send('POST', `${path}/bulk_delete/${query}`, { key: tenant.personalApiKey, body });
const left = async () => (await get('')).body.results.map(({ uuid }: { uuid: string }) => uuid);
const requests = () =>
  api.database.sql.query(
    'SELECT person_uuid, delete_events FROM person_deletion WHERE project_id = $1 ORDER BY person_uuid',
    [tenant.environmentId],
  );

test('immediately returns 404 for every ID of a deleted person', async () => {
  const uuid = await person('ada', 'anonymous');
  const { id } = (await get(`${uuid}/`)).body;
  const other = await person('bob');
  expect(await remove(`${uuid}/?delete_events=true`)).toMatchObject({ status: 202, body: undefined });
  for (const gone of [uuid, id, 'ada', 'anonymous']) expect(await get(`${gone}/`)).toMatchObject(notFound());
  expect(await left()).toEqual([other]);
  expect(await requests()).toEqual([{ person_uuid: uuid, delete_events: true }]);
  expect(await remove(`${uuid}/`)).toMatchObject(notFound());
});

test('deletes a person by numeric ID and by distinct ID', async () => {
  const [first] = [await person('first'), await person('second')];
  expect((await remove(`${(await get(`${first}/`)).body.id}`)).status).toBe(202);
  expect((await remove('second')).status).toBe(202);
  expect(await left()).toEqual([]);
  expect(await requests()).toMatchObject([{ delete_events: false }, { delete_events: false }]);
  expect(await remove('second')).toMatchObject(notFound());
  expect(await remove('%00')).toMatchObject(notFound());
});

test('returns 400 and deletes nothing if the given ID matches two persons', async () => {
  const first = await person('first');
  const { id } = (await get(`${first}/`)).body;
  await person(String(id));
  expect(await remove(`${id}/`)).toMatchObject({ status: 400, body: { attr: 'id' } });
  expect(await left()).toHaveLength(2);
});

test("logs the user and the progress of a person's deletion, but no personal data", async () => {
  // The name contains letters other than a to f, so it cannot occur in a UUID by chance.
  const uuid = await person('qwortz');
  await remove(`${uuid}/?delete_events=1`);
  for (const activity of [await get('activity/'), await get(`${uuid}/activity/`)]) {
    expect(activity.body).toMatchObject({
      total_count: 1,
      results: [
        {
          user: { email: expect.stringContaining('@') },
          activity: 'deleted',
          scope: 'Person',
          item_id: uuid,
          detail: {
            name: null,
            changes: [{ field: 'deletion', after: { status: 'waiting', delete_events: true, events: 0 } }],
          },
        },
      ],
    });
    expect(JSON.stringify(activity.body)).not.toContain('qwortz');
  }
  const stranger = await createTestTenant(api.database);
  const theirs = await api.get(`/api/projects/${stranger.projectId}/persons/${uuid}/activity`, stranger.personalApiKey);
  expect(theirs.status).toBe(404);
});

describe('deleting several persons at once', () => {
  test('deletes persons by UUID, numeric ID and distinct ID, and skips unknown IDs', async () => {
    const [a, b, c, d] = [await person('a', 'a2'), await person('b'), await person('c'), await person('d')];
    const { id } = (await get(`${b}/`)).body;
    const foreign = await createTestTenant(api.database);
    const theirs = await storePerson(api.database.sql, foreign.environmentId, { distinctIds: ['c'] });
    const response = await removeAll(
      { ids: [a, String(id), randomUUID(), theirs], distinct_ids: ['c', 'a2', 'unknown'] },
      '?delete_events=true',
    );
    expect(response).toMatchObject({
      status: 202,
      body: { persons_found: 3, persons_deleted: 3, events_queued_for_deletion: true, deletion_errors: [] },
    });
    expect(await left()).toEqual([d]);
    expect(await requests()).toHaveLength(3);
    expect((await requests()).map(({ person_uuid }) => person_uuid).sort()).toEqual([a, b, c].sort());
    const kept = await api.get(`/api/projects/${foreign.projectId}/persons/${theirs}/`, foreign.personalApiKey);
    expect(kept.status).toBe(200);
  });

  test('deletes up to 1000 persons, and returns 400 for more', async () => {
    await api.database.sql.query(
      `WITH made AS (INSERT INTO person (project_id, uuid, main_distinct_id, created_at)
                     SELECT $1, gen_random_uuid(), 'p' || n, now() FROM generate_series(1, 1001) n
                     RETURNING project_id, uuid, main_distinct_id)
       INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) SELECT project_id, main_distinct_id, uuid FROM made`,
      [tenant.environmentId],
    );
    const ids = Array.from({ length: 1001 }, (_, index) => `p${index + 1}`);
    expect(await removeAll({ distinct_ids: ids })).toMatchObject({ status: 400, body: { attr: 'distinct_ids' } });
    const { body } = await removeAll({ distinct_ids: ids.slice(1), delete_events: true });
    expect(body).toMatchObject({ persons_deleted: 1000, events_queued_for_deletion: true });
    expect(await left()).toHaveLength(1);
  });

  test.each([
    [{}, 'ids', 'You need to specify either distinct_ids or ids.'],
    [{ ids: [] }, 'ids', 'You need to specify either distinct_ids or ids.'],
    [{ ids: [randomUUID(), 'abc'] }, 'ids__1', 'Must be the UUID or the numeric ID of a person.'],
  ])('returns 400 for %j', async (body, attr, detail) => {
    expect(await removeAll(body)).toMatchObject(validationError('invalid_input', attr, detail));
  });
});

test('deletes a person only once when requests are concurrent', async () => {
  const uuid = await person('ada');
  const statuses = (await Promise.all([1, 2, 3].map(() => remove(`${uuid}/`)))).map(({ status }) => status);
  expect(statuses.sort()).toEqual([202, 404, 404]);
  expect(await requests()).toHaveLength(1);
});
