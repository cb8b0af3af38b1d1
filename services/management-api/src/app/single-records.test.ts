import { randomUUID } from 'node:crypto';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { notFound } from '../testing/expected-errors.ts';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';
import { createMonths, storeEvent, storeGroup, storePerson } from '../testing/stored-data.ts';

/** Tests the routes for single events, persons, groups and definitions, under projects and under environments. */
let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  await createMonths(api.database.sql, '2026-10', '2026-11');
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
});
afterAll(() => api.stop());

describe.each(['projects', 'environments'])('/api/%s/', (family) => {
  const get = (path: string, of = tenant) =>
    api.get(`/api/${family}/${of.environmentId}/${path}`, tenant.personalApiKey);

  test('returns an event in the same format as in a list of events', async () => {
    await storePerson(api.database.sql, tenant.projectId, { distinctIds: ['ada'], properties: { plan: 'pro' } });
    const uuid = await storeEvent(api.database.sql, tenant.projectId, { distinctId: 'ada', properties: { a: 1 } });
    await storeEvent(api.database.sql, tenant.projectId, { distinctId: 'bob' });
    const [listed] = (await get('events/?distinct_id=ada')).body.results;
    const times = { captured_at: expect.stringMatching(/Z$/), stored_at: expect.stringMatching(/Z$/) };
    expect(await get(`events/${uuid}/`)).toMatchObject({ status: 200, body: { ...listed, ...times } });
    expect((await get(`events/${uuid.toUpperCase()}`)).body).toEqual({ ...listed, ...times });
    for (const id of [randomUUID(), 'abc', '1', '%00', `${uuid}x`]) {
      expect(await get(`events/${id}/`)).toMatchObject(notFound('Not found.'));
    }
  });

  test('finds a person by UUID, numeric ID and any distinct ID, in the same format as in a list of persons', async () => {
    const uuid = await storePerson(api.database.sql, tenant.projectId, { distinctIds: ['a/b c', 'ü@x.com'] });
    const [listed] = (await get('persons/')).body.results;
    for (const id of [uuid, uuid.toUpperCase(), listed.id, 'a%2Fb%20c', encodeURIComponent('ü@x.com')]) {
      expect(await get(`persons/${id}/`)).toMatchObject({ status: 200, body: listed });
    }
    for (const id of [randomUUID(), 'unknown', '0', '-1', '999999999999999999999', '%00']) {
      expect(await get(`persons/${id}/`)).toMatchObject(notFound('Not found.'));
    }
  });

  test("prefers a person's UUID or numeric ID to a distinct ID", async () => {
    const first = await storePerson(api.database.sql, tenant.projectId, { distinctIds: ['first'] });
    const number = (await get(`persons/${first}/`)).body.id;
    const anonymous = randomUUID();
    const second = await storePerson(api.database.sql, tenant.projectId, {
      distinctIds: [first, String(number), anonymous, '7'],
    });
    expect((await get(`persons/${first}/`)).body.uuid).toBe(first);
    expect((await get(`persons/${number}/`)).body.uuid).toBe(first);
    expect((await get(`persons/${anonymous}/`)).body.uuid).toBe(second);
  });

  test('finds a group by type and key', async () => {
    await storeGroup(api.database.sql, tenant.projectId, {
      type: 'company',
      index: 1,
      key: 'a&b',
      properties: { n: 1 },
    });
    const [listed] = (await get('groups/')).body.results;
    const found = await get('groups/find/?group_type_index=1&group_key=a%26b');
    expect(found).toMatchObject({ status: 200, body: listed });
    expect(await get('groups/find/?group_type_index=0&group_key=a%26b')).toMatchObject(notFound('Not found.'));
    expect(await get('groups/find/?group_type_index=1&group_key=A%26B')).toMatchObject(notFound('Not found.'));
    expect(await get('groups/find/?group_type_index=1')).toMatchObject({ status: 400, body: { attr: 'group_key' } });
    expect(await get('groups/find?group_type_index=9&group_key=x')).toMatchObject({
      status: 400,
      body: { attr: 'group_type_index' },
    });
  });

  test('lists event definitions by name, and supports search and pages', async () => {
    const other = await createTestTenant(api.database);
    for (const [project, name] of [
      [tenant, 'user signed up'],
      [tenant, 'Checkout'],
      [tenant, '100%'],
      [other, 'theirs'],
    ] as const) {
      await api.database.sql.query(
        `INSERT INTO event_definition (project_id, name, created_at, last_seen_at)
         VALUES ($1, $2, '2026-11-01T10:00:00Z', '2026-11-02T10:00:00Z')`,
        [project.environmentId, name],
      );
    }
    const names = async (query: string) =>
      (await get(`event_definitions/${query}`)).body.results.map(({ name }: { name: string }) => name);
    expect(await names('?search=UP%20user')).toEqual(['user signed up']);
    expect(await names('?search=%25')).toEqual(['100%']);
    expect(await names('?search=theirs')).toEqual([]);
    expect((await names('')).sort()).toEqual(['100%', 'Checkout', 'user signed up']);
    const page = (await get('event_definitions/?limit=2')).body;
    expect([page.count, page.results.length]).toEqual([3, 2]);
    expect((await api.get(page.next, tenant.personalApiKey)).body.results).toHaveLength(1);
    const [one] = page.results;
    expect(one).toMatchObject({ created_at: '2026-11-01T10:00:00Z', last_seen_at: '2026-11-02T10:00:00Z' });
    expect((await get(`event_definitions/${one.id}/`)).body).toEqual(one);
    expect(await get(`event_definitions/${randomUUID()}/`)).toMatchObject(notFound('Not found.'));
    expect((await get('event_definitions/', other)).status).toBe(404);
  });

  test('lists property definitions of events, persons and groups', async () => {
    for (const [type, index, name, valueType] of [
      [1, -1, 'amount', 'Numeric'],
      [1, -1, 'url', null],
      [2, -1, 'email', 'String'],
      [3, 0, 'seats', 'Numeric'],
      [3, 1, 'city', 'String'],
    ]) {
      await api.database.sql.query(
        `INSERT INTO property_definition (project_id, type, group_type_index, name, property_type, last_seen_at)
         VALUES ($1, $2, $3, $4, $5, now())`,
        [tenant.environmentId, type, index, name, valueType],
      );
    }
    const list = async (query: string) => (await get(`property_definitions/${query}`)).body;
    const names = async (query: string) => (await list(query)).results.map(({ name }: { name: string }) => name);
    expect(await names('')).toEqual(['amount', 'url']);
    expect(await names('?type=event&search=URL')).toEqual(['url']);
    expect(await names('?is_numerical=true')).toEqual(['amount']);
    expect(await names('?is_numerical=false')).toEqual(['url']);
    expect(await names('?properties=url,nothing')).toEqual(['url']);
    expect(await names('?type=person')).toEqual(['email']);
    expect(await names('?type=group&group_type_index=1')).toEqual(['city']);
    const [amount] = (await list('')).results;
    expect(amount).toMatchObject({ is_numerical: true, property_type: 'Numeric', tags: [] });
    expect((await get(`property_definitions/${amount.id}`)).body).toEqual(amount);
    for (const [query, attr] of [
      ['?type=session', 'type'],
      ['?type=group', 'group_type_index'],
      ['?group_type_index=1', 'group_type_index'],
    ]) {
      expect(await get(`property_definitions/${query}`)).toMatchObject({ status: 400, body: { attr } });
    }
  });

  test("returns 403 for the records of another organization's project", async () => {
    const other = await createTestTenant(api.database);
    const uuid = await storePerson(api.database.sql, other.projectId, { distinctIds: ['theirs'] });
    const event = await storeEvent(api.database.sql, other.projectId, { distinctId: 'theirs' });
    for (const path of [`persons/${uuid}/`, 'persons/theirs/', `events/${event}/`]) {
      expect(await get(path)).toMatchObject(notFound('Not found.'));
      expect(await get(path, other)).toMatchObject(notFound('Project not found.'));
    }
  });
});
