import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../../testing/start-test-api.ts';
import { storeGroup, storePerson } from '../../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/feature_flags/`;
});

const get = (rest: string) => api.get(path + rest, tenant.personalApiKey);
const post = (rest: string, body: unknown) => api.send('POST', path + rest, { key: tenant.personalApiKey, body });
const created = async (key: string, filters: unknown, rest: Record<string, unknown> = {}) => {
  const response = await post('', { key, filters, ...rest });
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body;
};
const ofPlan = (value: string) => ({ key: 'plan', type: 'person', operator: 'exact', value });

test("evaluation_reasons returns each flag's value, reason and steps, but no property values", async () => {
  const { sql } = api.database;
  await storePerson(sql, tenant.environmentId, { distinctIds: ['ada'], properties: { plan: 'secret-plan' } });
  await storeGroup(sql, tenant.environmentId, { type: 'company', index: 0, key: 'acme' });
  await created('first', { groups: [{ properties: [ofPlan('other')] }, { properties: [ofPlan('secret-plan')] }] });
  await created('of-group', { aggregation_group_type_index: 0, groups: [{}] });
  await created('off', { groups: [{}] }, { active: false });
  const { status, body } = await get('evaluation_reasons/?distinct_id=ada&groups={"company":"acme"}');
  expect([status, Object.keys(body).sort()]).toEqual([200, ['first', 'of-group', 'off']]);
  expect(body.first).toMatchObject({
    value: true,
    evaluation: { reason: 'condition_match', condition_index: 1 },
    explanation: {
      hashed: 'distinct_id',
      conditions: [
        { outcome: 'no_condition_match', filters: [{ key: 'plan', source: 'stored', outcome: false }] },
        { outcome: 'match', filters: [{ key: 'plan', source: 'stored', outcome: true }], rollout: { percentage: 100 } },
      ],
    },
  });
  expect(body.first.explanation.conditions[1].rollout.hash).toBeGreaterThan(0);
  expect(body['of-group']).toMatchObject({ value: true, explanation: { hashed: 'group' } });
  expect(body.off).toMatchObject({ value: false, evaluation: { reason: 'disabled', condition_index: null } });
  expect(JSON.stringify(body)).not.toContain('secret-plan');
  expect((await get('evaluation_reasons/?distinct_id=unknown')).body.first).toMatchObject({
    value: false,
    explanation: { conditions: [{ filters: [{ source: 'missing' }] }, {}] },
  });
  expect(await get('evaluation_reasons/')).toMatchObject({ status: 400, body: { attr: 'distinct_id' } });
  expect(await get('evaluation_reasons/?distinct_id=x&groups=[1]')).toMatchObject({
    status: 400,
    body: { attr: 'groups' },
  });
});

test('my_flags returns the flags evaluated for the caller', async () => {
  const rows = await api.database.sql.query<{ distinct_id: string }>('SELECT distinct_id FROM "user" WHERE id = $1', [
    tenant.userId,
  ]);
  const own = rows[0]?.distinct_id;
  await storePerson(api.database.sql, tenant.environmentId, {
    distinctIds: [String(own)],
    properties: { plan: 'pro' },
  });
  await created('mine', { groups: [{ properties: [ofPlan('pro')] }] });
  await created('not-mine', { groups: [{ properties: [ofPlan('free')] }] });
  await created('off', { groups: [{}] }, { active: false });
  const { body } = await get('my_flags/');
  expect(
    body.map(({ feature_flag: { key }, value }: { feature_flag: { key: string }; value: unknown }) => [key, value]),
  ).toEqual([
    ['off', false],
    ['not-mine', false],
    ['mine', true],
  ]);
  expect(body[2].feature_flag).toMatchObject({ team_id: tenant.environmentId, version: 1, filters: { groups: [{}] } });
});

const people = Array.from({ length: 60 }, (_, index) => `person-${index}`);
const valuesOf = async (key: string): Promise<unknown[]> => {
  const values: unknown[] = [];
  for (const id of people) values.push((await get(`evaluation_reasons/?distinct_id=${id}`)).body[key].value);
  return values;
};

test('flag-080: assigns users to new buckets when the key of a flag changes', async () => {
  const { id } = await created('old-key', { groups: [{ rollout_percentage: 50 }] });
  const before = await valuesOf('old-key');
  const renamed = await api.send('PATCH', `${path}${id}/`, { key: tenant.personalApiKey, body: { key: 'new-key' } });
  expect(renamed).toMatchObject({ status: 200, body: { key: 'new-key', version: 2 } });
  const after = await valuesOf('new-key');
  const changed = after.filter((value, index) => value !== before[index]).length;
  // About half of the users get a different value. If the old buckets were still used, all users would keep their
  // values.
  expect(changed).toBeGreaterThan(10);
  expect(changed).toBeLessThan(50);
});

test('flag-085: accepts rounded thirds as variant percentages if they add up to 100%, and assigns all users', async () => {
  const thirds = (shares: number[]) =>
    shares.map((rollout_percentage, index) => ({ key: 'abc'.charAt(index), rollout_percentage }));
  const filters = (shares: number[]) => ({ groups: [{}], multivariate: { variants: thirds(shares) } });
  const { filters: stored } = await created('thirds', filters([33.3, 33.3, 33.4]));
  expect(stored.multivariate.variants).toEqual(thirds([33.3, 33.3, 33.4]));
  expect([...new Set(await valuesOf('thirds'))].sort()).toEqual(['a', 'b', 'c']);
  expect(await post('', { key: 'less', filters: filters([33.3, 33.3, 33.3]) })).toMatchObject({
    status: 400,
    body: { code: 'invalid_input', attr: 'filters' },
  });
});

test('returns 400 for removing a variant that a payload or condition still uses', async () => {
  const half = (key: string) => ({ key, rollout_percentage: 50 });
  const { id } = await created('split', {
    groups: [{ variant: 'b' }],
    multivariate: { variants: [half('a'), half('b')] },
    payloads: { b: '1' },
  });
  const change = (filters: unknown) =>
    api.send('PATCH', `${path}${id}/`, { key: tenant.personalApiKey, body: { filters } });
  const multivariate = { variants: [half('a'), half('c')] };
  expect(await change({ multivariate })).toMatchObject({ status: 400, body: { attr: 'filters' } });
  expect(await change({ multivariate, groups: [{ variant: 'c' }] })).toMatchObject({
    status: 400,
    body: { detail: 'Payload keys must match a variant key for multivariate flags' },
  });
  expect(await change({ multivariate, groups: [{ variant: 'c' }], payloads: { c: '1' } })).toMatchObject({
    status: 200,
    body: { version: 2, filters: { payloads: { c: '1' } } },
  });
  expect(await change({ multivariate: null })).toMatchObject({ status: 400 });
  expect(await change({ multivariate: null, groups: [{}], payloads: {} })).toMatchObject({ status: 200 });
  expect((await valuesOf('split'))[0]).toBe(true);
});
