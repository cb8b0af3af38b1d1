import type { Sql } from '@millrace/db';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi, type TestResponse } from '../../testing/start-test-api.ts';
import { addCohortAndGroupNames } from './show.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

type Body = Record<string, unknown>;
const everybody = { groups: [{ properties: [], rollout_percentage: 100 }] };
const patch = (id: number, body: Body) => api.send('PATCH', `${path}${id}/`, { key: tenant.personalApiKey, body });
const get = (rest: string) => api.get(path + rest, tenant.personalApiKey);
const created = async (key: string, body: Body): Promise<TestResponse['body']> => {
  const response = await api.send('POST', path, { key: tenant.personalApiKey, body: { key, ...body } });
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body;
};
const cohortNamed = async (name: string): Promise<number> =>
  (
    await api.send('POST', `/api/projects/${tenant.projectId}/cohorts/`, {
      key: tenant.personalApiKey,
      body: { name, is_static: true },
    })
  ).body.id;
const inCohort = (id: number, more: object = {}) => ({ key: 'id', type: 'cohort', value: id, ...more });
const groups = (...properties: object[]) => ({ groups: [{ properties, rollout_percentage: 100 }] });
const ofGroups = {
  groups: [
    {
      properties: [
        { key: '$group_key', type: 'group', operator: 'exact', value: ['a', 'b', 'unknown'], group_type_index: 0 },
        { key: 'plan', type: 'group', operator: 'exact', value: 'a', group_type_index: 0 },
      ],
      aggregation_group_type_index: 0,
    },
  ],
};
const propertiesOf = (flag: Body) =>
  (flag.filters as { groups: { properties: Body[] }[] }).groups.flatMap(({ properties }) => properties);
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/feature_flags/`;
  await api.database.sql.query(
    `INSERT INTO "group" (project_id, group_type_index, group_key, group_properties, created_at)
     VALUES ($1, 0, 'a', '{"name": "Acme"}', now()), ($1, 0, 'b', '{"name": ""}', now()), ($1, 1, 'unknown', '{"name": "X"}', now())`,
    [tenant.environmentId],
  );
});

test('returns names of cohorts and groups with a flag and with a list of flags', async () => {
  const [one, other] = [await cohortNamed('Testers'), await cohortNamed('Staff')];
  const flag = await created('c', { filters: groups(inCohort(one), inCohort(other, { operator: 'not_in' })) });
  const byGroup = await created('g', { filters: ofGroups });
  const again = await created('d', { filters: groups(inCohort(one)) });
  const cohorts = [
    { value: one, cohort_name: 'Testers' },
    { value: other, cohort_name: 'Staff' },
  ];
  const [byKey, byPlan] = propertiesOf(byGroup);
  expect(byKey).toMatchObject({ group_key_names: { a: 'Acme' } });
  expect(byPlan).not.toHaveProperty('group_key_names');
  for (const { id, ...shown } of [flag, byGroup, again]) {
    expect((await get(`${id}/`)).body.filters).toEqual(shown.filters);
    expect((await patch(id, { name: 'x' })).body.filters).toEqual(shown.filters);
  }
  const { results } = (await get('')).body;
  expect(results.map(propertiesOf)).toEqual([
    [expect.objectContaining({ cohort_name: 'Testers' })],
    [byKey, byPlan],
    cohorts.map((cohort) => expect.objectContaining(cohort)),
  ]);
});

test('does not store cohort names in flags, so that renaming a cohort causes no conflict', async () => {
  const id = await cohortNamed('Testers');
  const flag = await created('c', { filters: groups(inCohort(id)) });
  await api.send('PATCH', `/api/projects/${tenant.projectId}/cohorts/${id}/`, {
    key: tenant.personalApiKey,
    body: { name: 'Friends' },
  });
  await patch(flag.id, { name: 'Theirs' });
  const filters = { ...flag.filters, groups: [...flag.filters.groups, ...everybody.groups] };
  const { status, body } = await patch(flag.id, { version: flag.version, original_flag: flag, filters });
  expect([status, propertiesOf(body)]).toEqual([200, [expect.objectContaining({ cohort_name: 'Friends' })]]);
  const [row] = await api.database.sql.query('SELECT filters::text AS filters FROM feature_flag WHERE id = $1', [
    flag.id,
  ]);
  expect(row?.filters).not.toMatch(/cohort_name/);
});

test("omits the name of another project's cohort from a flag", async () => {
  const id = await cohortNamed('Secret');
  const other = await createTestTenant(api.database);
  await api.database.sql.query(`INSERT INTO feature_flag (project_id, key, filters) VALUES ($1, 'odd', $2)`, [
    other.environmentId,
    { groups: [{ properties: [inCohort(id), null] }, 'odd', {}] },
  ]);
  const { status, body } = await api.get(`/api/projects/${other.projectId}/feature_flags/`, other.personalApiKey);
  expect([status, JSON.stringify(body)]).toEqual([200, expect.not.stringContaining('Secret')]);
});

test('reads cohort and group names for a hundred flags in at most two queries, and limits the number of names', async () => {
  const id = await cohortNamed('Testers');
  const texts: string[] = [];
  const sql = {
    query: (text: string, values?: unknown[]) => {
      texts.push(text);
      return api.database.sql.query(text, values);
    },
  } as Sql;
  const { environmentId } = tenant;
  const everything = { userId: tenant.userId, rules: null };
  const named = { groups: [...ofGroups.groups, ...groups(...Array.from({ length: 50 }, () => inCohort(id))).groups] };
  const shown = await addCohortAndGroupNames(
    sql,
    Array.from({ length: 100 }, () => ({ environmentId, filters: structuredClone(named) })),
    everything,
  );
  expect(texts).toHaveLength(2);
  expect(JSON.stringify(shown).match(/"Testers"/g)).toHaveLength(2000);
  await addCohortAndGroupNames(sql, [{ environmentId, filters: everybody }], everything);
  expect(texts).toHaveLength(2);
});
