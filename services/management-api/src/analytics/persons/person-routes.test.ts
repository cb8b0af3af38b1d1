import { createTestTenant, type TestTenant } from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, type StoredPerson, storeEvent, storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/persons/`;
});
afterAll(() => api.stop());

const person = (fields: StoredPerson) => storePerson(api.database.sql, tenant.projectId, fields);
const get = async (query = '') => (await api.get(path + query, tenant.personalApiKey)).body;
const uuids = async (query = '') => (await get(query)).results.map((row: { uuid: string }) => row.uuid);

test('returns the current state of a person', async () => {
  const uuid = await person({
    distinctIds: ['b', 'main', 'a'],
    main: 'main',
    properties: { email: 'ada@example.com', plan: 'pro' },
    isIdentified: true,
    createdAt: '2026-11-01T10:00:00.5Z',
  });
  expect(await get()).toEqual({
    next: null,
    results: [
      {
        id: expect.any(Number),
        uuid,
        name: 'ada@example.com',
        distinct_ids: ['main', 'b', 'a'],
        properties: { email: 'ada@example.com', plan: 'pro' },
        is_identified: true,
        created_at: '2026-11-01T10:00:00.500000Z',
        last_seen_at: null,
      },
    ],
  });
});

test("returns the time of the latest event with any of a person's distinct IDs as `last_seen_at`", async () => {
  const uuid = await person({ distinctIds: ['laptop', 'phone'] });
  const silent = await person({ distinctIds: ['silent'] });
  await createMonths(api.database.sql, '2026-11', '2026-11');
  for (const [distinctId, timestamp] of [
    ['laptop', '2026-11-01T10:00:00Z'],
    ['phone', '2026-11-03T12:30:00Z'],
    ['phone', '2026-11-02T10:00:00Z'],
  ] as const)
    await storeEvent(api.database.sql, tenant.environmentId, { distinctId, timestamp });
  const seen = async (query: string) =>
    (await get(query)).results.map((row: { uuid: string; last_seen_at: string | null }) => [
      row.uuid,
      row.last_seen_at,
    ]);
  expect(await seen('?last_seen=true')).toEqual([
    [silent, null],
    [uuid, '2026-11-03T12:30:00Z'],
  ]);
  expect(await seen('?last_seen=false&distinct_id=phone')).toEqual([[uuid, null]]);
});

test('counts the persons that match the filters', async () => {
  await person({ distinctIds: ['1'], properties: { email: 'ada@example.com', plan: 'pro' } });
  await person({ distinctIds: ['2'], properties: { email: 'grace@example.com', plan: 'pro' } });
  await person({ distinctIds: ['3'], isIdentified: true });
  const plan = encodeURIComponent('[{"type":"person","key":"plan","value":"pro"}]');
  const count = async (query = '') => (await get(`count/${query}`)).count;
  expect(await get('count/')).toEqual({ count: 3, is_complete: true });
  expect([await count('?search=ada'), await count(`?properties=${plan}`), await count('?is_identified=true')]).toEqual([
    1, 2, 1,
  ]);
});

test.each([
  [{ email: 'a@b.c', name: 'Ada', username: 'ada' }, 'a@b.c'],
  [{ email: '', name: 'Ada', username: 'ada' }, 'Ada'],
  [{ email: null, name: { first: 'Ada' }, username: 'ada' }, 'ada'],
  [{ username: 42 }, '42'],
  [{}, 'the main id'],
])("uses the first suitable property as a person's name: %j", async (properties, name) => {
  await person({ distinctIds: ['the main id'], properties });
  expect((await get()).results[0].name).toBe(name);
});

describe('filters of the person list', () => {
  test('finds persons by an exact match of any of their distinct IDs', async () => {
    const uuid = await person({ distinctIds: ['x', 'y'] });
    await person({ distinctIds: ['z'] });
    expect(await uuids('?distinct_id=y')).toEqual([uuid]);
    expect(await uuids('?distinct_id=Y')).toEqual([]);
    expect(await uuids('?distinct_id=unknown')).toEqual([]);
  });

  test('finds persons by an exact match of the email', async () => {
    const uuid = await person({ distinctIds: ['x'], properties: { email: 'ada@example.com' } });
    await person({ distinctIds: ['y'], properties: { email: 'xada@example.com' } });
    expect(await uuids('?email=ada%40example.com')).toEqual([uuid]);
  });

  test('finds persons by a substring of the email, name or a distinct ID, ignoring case', async () => {
    const byEmail = await person({ distinctIds: ['1'], properties: { email: 'Grace@Example.com' } });
    const byName = await person({ distinctIds: ['2'], properties: { name: 'grace hopper' } });
    const byId = await person({ distinctIds: ['3', 'user-GRACE-9'] });
    await person({ distinctIds: ['4'], properties: { other: 'grace' } });
    expect(await uuids('?search=gRaCe')).toEqual([byEmail, byId, byName]);
    expect(await uuids('?search=gRaCe&order=-created_at')).toHaveLength(3);
    expect(await uuids('?search=')).toHaveLength(4);
  });

  test('treats SQL wildcards as ordinary characters', async () => {
    const uuid = await person({ distinctIds: ['100%_\\'] });
    await person({ distinctIds: ['abc'] });
    expect(await uuids('?search=%25')).toEqual([uuid]);
    expect(await uuids('?search=_%5C')).toEqual([uuid]);
  });

  test('filters persons by whether they have been identified', async () => {
    const anonymous = await person({ distinctIds: ['x'] });
    const identified = await person({ distinctIds: ['y'], isIdentified: true });
    expect(await uuids('?is_identified=true')).toEqual([identified]);
    expect(await uuids('?is_identified=false')).toEqual([anonymous]);
  });

  test.each(['cohort=1', 'cohort=x', 'offset=-1', 'offset=x', 'is_identified=perhaps', 'is_anonymous=true'])(
    'returns 400 and names the invalid parameter of the person list: %s',
    async (query) => {
      const { status, body } = await api.get(`${path}?${query}`, tenant.personalApiKey);
      expect([status, body.attr]).toEqual([400, query.split('=')[0]]);
    },
  );

  test('combines person filters with AND', async () => {
    const uuid = await person({ distinctIds: ['x'], properties: { email: 'a@b.c' } });
    expect(await uuids('?distinct_id=x&email=a%40b.c&search=B.C')).toEqual([uuid]);
    expect(await uuids('?distinct_id=x&email=other')).toEqual([]);
  });
});

test('returns every person on exactly one page, newest first, while persons are added and merged', async () => {
  const stored: string[] = [];
  for (let index = 0; index < 25; index += 1) stored.push(await person({ distinctIds: [`p${index}`] }));
  const seen: string[] = [];
  for (let next: string | null = `${path}?limit=4`; next !== null; ) {
    const { body } = await api.get(next, tenant.personalApiKey);
    seen.push(...body.results.map((row: { uuid: string }) => row.uuid));
    next = body.next;
    await person({ distinctIds: [`new-${seen.length}`] });
    // Delete a person from the last page, like a merge would.
    await api.database.sql.query('DELETE FROM person WHERE uuid = $1', [seen.at(-1)]);
  }
  expect(seen).toEqual(stored.reverse());
});

test('sorts persons across pages by the time when they were first seen, to the microsecond', async () => {
  const at = (fraction: string) => person({ distinctIds: [fraction], createdAt: `2026-11-01T10:00:00.${fraction}Z` });
  const [late, first, second] = [await at('000003'), await at('000001'), await at('000002')];
  const early = await person({ distinctIds: ['early'], createdAt: '1969-12-31T23:59:59.5Z' });
  const sorted = [early, first, second, late];
  const walk = async (order: string) =>
    (await readAllPages<{ uuid: string }>(api, `${path}?limit=1&order=${order}`, tenant.personalApiKey)).map(
      ({ uuid }) => uuid,
    );
  expect(await walk('created_at')).toEqual(sorted);
  expect(await walk('-created_at')).toEqual(sorted.toReversed());
  expect(await uuids('?order=-created_at&limit=2&offset=1')).toEqual([second, first]);
  const { next } = await get('?limit=1');
  const { status, body } = await api.get(`${next}&order=created_at`, tenant.personalApiKey);
  expect([status, body.attr]).toEqual([400, 'cursor']);
  expect((await api.get(`${path}?order=name`, tenant.personalApiKey)).body.attr).toBe('order');
});

test('skips the number of persons given by `offset`, and continues after the page with `next`', async () => {
  for (let index = 0; index < 10; index += 1) await person({ distinctIds: [`p${index}`] });
  const whole = await uuids('?limit=100');
  expect(whole).toHaveLength(10);
  const seen: string[] = [];
  for (let offset = 0; offset < 15; offset += 3) seen.push(...(await uuids(`?limit=3&offset=${offset}`)));
  expect(seen).toEqual(whole);
  expect(await uuids('?limit=3&offset=9007199254740991')).toEqual([]);
  const { next } = await get('?limit=3&offset=2');
  const { body } = await api.get(next, tenant.personalApiKey);
  expect(body.results.map(({ uuid }: { uuid: string }) => uuid)).toEqual(whole.slice(5, 8));
});

test("runs the same number of SQL statements for a person page of any size, and returns no other project's persons", async () => {
  const other = await createTestTenant(api.database);
  await storePerson(api.database.sql, other.projectId, { distinctIds: ['theirs'] });
  for (let index = 0; index < 10; index += 1) await person({ distinctIds: [`p${index}`, `q${index}`] });
  const cost = (query: string) => api.statementsOf(() => get(query));
  expect([await cost('?limit=1'), await cost('?limit=10')]).toEqual([5, 5]);
  expect(await readAllPages(api, `${path}?limit=3`, tenant.personalApiKey)).toHaveLength(10);
  expect(await uuids('?distinct_id=theirs')).toEqual([]);
});
