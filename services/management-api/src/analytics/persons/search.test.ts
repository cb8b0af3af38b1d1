import type { Sql } from '@millrace/db';
import { createTestTenant } from '@millrace/testing';
import { StoppedSearch } from '../../sql/large-page.ts';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { storePerson } from '../../testing/stored-data.ts';
import { countMatches, findPersonKeys } from './search.ts';
import type { PersonPosition } from './store.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

/**
 * Creates a project in which a search needs several steps. The newest and the oldest person match `needle`, but do not
 * start with it.
 */
async function largeProject() {
  const tenant = await createTestTenant(api.database);
  const { environmentId: projectId, personalApiKey } = tenant;
  const store = (distinctId: string) => storePerson(api.database.sql, projectId, { distinctIds: [distinctId] });
  const oldest = await store('the oldest needle');
  await api.database.sql.query(
    `WITH stored AS (INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
                     SELECT $1, gen_random_uuid(), 'd' || n, '{}', now() FROM generate_series(1, 7000) AS n
                     RETURNING uuid, main_distinct_id)
     INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) SELECT $1, main_distinct_id, uuid FROM stored`,
    [projectId],
  );
  const newest = await store('the newest needle');
  const search = (query: string) =>
    readAllPages<{ uuid: string }>(api, `/api/projects/${tenant.projectId}/persons/?${query}`, personalApiKey).then(
      (persons) => persons.map(({ uuid }) => uuid),
    );
  return { projectId, store, search, oldest, newest };
}

/** Makes a search so slow that a second step, which reads more persons, would probably exceed the time limit. */
const slowed = (sql: Sql): Sql => ({
  query: (statement, values) => sql.query('SELECT pg_sleep(2)').then(() => sql.query(statement, values)),
});

test('first returns persons whose email or distinct ID starts with the search string, and returns each person once', async () => {
  const { projectId, store, search, oldest, newest } = await largeProject();
  const byId = [await store('needle-1'), await store('Needle-2'), await store('x needle')];
  const byEmail = await storePerson(api.database.sql, projectId, {
    distinctIds: ['needle-3', 'another-needle'],
    properties: { email: `NEEDLE${'x'.repeat(5000)}@example.com` },
  });
  const found = [byEmail, byId[1], byId[0], byId[2], newest, oldest];
  for (const limit of [1, 2, 3, 100]) expect(await search(`search=Needle&limit=${limit}`)).toEqual(found);
  expect(await search('search=needle&order=created_at')).toHaveLength(6);
  expect(await search(`email=${`NEEDLE${'x'.repeat(5000)}%40example.com`}`)).toEqual([byEmail]);
  expect(await search(`email=${`needle${'x'.repeat(5000)}%40example.com`}`)).toEqual([]);
  expect(await search('search=the%20')).toEqual([newest, oldest]);
});

test("after a person's email changes, finds the person by the new email but not by the previous one", async () => {
  const { projectId, search } = await largeProject();
  const { sql } = api.database;
  const uuid = await storePerson(sql, projectId, { distinctIds: ['ada'], properties: { email: 'Ada@Old.example' } });
  expect(await search('search=ada%40old')).toEqual([uuid]);
  await sql.query(`UPDATE person SET properties = '{"email": "ada@new.example"}' WHERE uuid = $1`, [uuid]);
  expect([await search('email=Ada%40Old.example'), await search('email=ada%40new.example')]).toEqual([[], [uuid]]);
});

test('returns one undivided list if the email or distinct ID of many persons starts with the search string', async () => {
  const { search } = await largeProject();
  expect(await search('search=d&limit=500')).toHaveLength(7002);
});

test.each([
  ['the persons found so far', 'needle', ['newest'], ['oldest']],
  ['no persons', 'oldest needle', [], ['oldest']],
])(
  'returns %s when a search reaches its time limit, and continues on the next page',
  async (_name, text, found, rest) => {
    const { projectId, newest, oldest } = await largeProject();
    const { sql } = api.database;
    const nameOf = new Map([
      [newest, 'newest'],
      [oldest, 'oldest'],
    ]);
    const namesOf = async (keys: PersonPosition[]) => {
      const ids = keys.map(({ id }) => id);
      const rows = await sql.query('SELECT uuid FROM person WHERE id = ANY ($1::bigint[]) ORDER BY id DESC', [ids]);
      return rows.map(({ uuid }) => nameOf.get(uuid));
    };
    const slow = slowed(sql);
    const find = (on: Sql, behind: PersonPosition | null) =>
      findPersonKeys(on, {
        ...{ projectId, filter: { search: text, properties: null } },
        window: { behind, limit: 10, offset: 0, order: '-id' },
      });
    const stopped = await find(slow, null);
    if (!(stopped instanceof StoppedSearch)) throw new Error('The search did not stop.');
    expect(await namesOf(stopped.keys)).toEqual(found);
    const others = await find(sql, stopped.end);
    expect(Array.isArray(others) && (await namesOf(others))).toEqual(rest);
  },
);

test('counts the persons found so far when a search reaches its time limit', async () => {
  const { projectId } = await largeProject();
  const { sql } = api.database;
  const count = (on: Sql, most: number) =>
    countMatches(on, { projectId, filter: { search: 'needle', properties: null }, most });
  expect(await count(slowed(sql), 10)).toEqual({ count: 1, is_complete: false });
  expect(await count(sql, 10)).toEqual({ count: 2, is_complete: true });
  expect(await count(sql, 1)).toEqual({ count: 1, is_complete: false });
});
