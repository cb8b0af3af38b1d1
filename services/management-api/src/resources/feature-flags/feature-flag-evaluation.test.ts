import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { storeGroup, storePerson } from '../../testing/stored-data.ts';

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
  const answer = await post('', { key, filters, ...rest });
  expect([answer.status, answer.body.detail]).toEqual([201, undefined]);
  return answer.body;
};
const ofPlan = (value: string) => ({ key: 'plan', type: 'person', operator: 'exact', value });

test('evaluation reasons tell the value, the reason and how it came to that, and no property value', async () => {
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
  expect((await get('evaluation_reasons/?distinct_id=nobody')).body.first).toMatchObject({
    value: false,
    explanation: { conditions: [{ filters: [{ source: 'missing' }] }, {}] },
  });
  expect(await get('evaluation_reasons/')).toMatchObject({ status: 400, body: { attr: 'distinct_id' } });
  expect(await get('evaluation_reasons/?distinct_id=x&groups=[1]')).toMatchObject({
    status: 400,
    body: { attr: 'groups' },
  });
});

test('my flags are those for the caller', async () => {
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
