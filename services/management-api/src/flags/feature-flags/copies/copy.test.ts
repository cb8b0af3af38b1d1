import { createProject } from '@millrace/accounts';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../../testing/start-test-api.ts';
import { storeGroup, storePerson } from '../../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
let second: number;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  const { organizationId } = tenant;
  second = (
    await api.database.transaction((tx) =>
      createProject(tx, { organizationId, settings: { name: 'Second' }, actor: null }),
    )
  ).environment.id;
});

const send = (path: string, body?: unknown, method: 'POST' | 'GET' = 'POST', key = tenant.personalApiKey) =>
  api.send(method, `/api/${path}`, { key, body });
const made = async (path: string, body: unknown, project = tenant.projectId) => {
  const response = await send(`projects/${project}/${path}/`, body);
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body;
};
const copy = (body: object, key?: string) =>
  send(`organizations/${tenant.organizationId}/feature_flags/copy_flags/`, body, 'POST', key);
const inCohort = (id: number) => ({ groups: [{ properties: [{ key: 'id', type: 'cohort', value: id }] }] });
const plan = { key: 'plan', type: 'person', operator: 'exact', value: 'pro' };
const tree = (...values: unknown[]) => ({ properties: { type: 'OR', values: [{ type: 'AND', values }] } });

test('copies a flag with its cohorts and the cohorts that they reference, and matches cohorts by name', async () => {
  const inner = await made('cohorts', { name: 'Inner', filters: tree(plan) });
  const outer = await made('cohorts', { name: 'Outer', filters: tree({ type: 'cohort', key: 'id', value: inner.id }) });
  const there = await made('cohorts', { name: 'Inner', filters: tree(plan) }, second);
  const flag = await made('feature_flags', { key: 'copied', name: 'N', filters: inCohort(outer.id), tags: ['t'] });
  const asked = {
    feature_flag_key: 'copied',
    from_project: tenant.projectId,
    target_project_ids: [second, 2_000_000_000],
  };
  const { status, body } = await copy(asked);
  expect([status, body.failed]).toEqual([200, [{ project_id: 2_000_000_000, errors: 'Project not found.' }]]);
  const [copied] = body.success;
  expect(copied).toMatchObject({ key: 'copied', name: 'N', tags: ['t'], version: 1 });
  const cohortId = copied.filters.groups[0].properties[0].value;
  const cohort = (await send(`projects/${second}/cohorts/${cohortId}/`, undefined, 'GET')).body;
  expect(cohort.name).toBe('Outer');
  expect(JSON.stringify(cohort.filters)).toContain(`"value":${there.id}`);

  // A second copy must change the existing flag and must not create another.
  await api.send('PATCH', `/api/projects/${tenant.projectId}/feature_flags/${flag.id}/`, {
    key: tenant.personalApiKey,
    body: { filters: { groups: [{ rollout_percentage: 5 }] } },
  });
  const again = (await copy({ ...asked, target_project_ids: [second] })).body.success[0];
  expect(again).toMatchObject({ id: copied.id, version: 2, filters: { groups: [{ rollout_percentage: 5 }] } });
  expect((await send(`projects/${second}/cohorts/`, undefined, 'GET')).body.count).toBe(2);
  const everywhere = await send(`organizations/${tenant.organizationId}/feature_flags/copied/`, undefined, 'GET');
  expect(everywhere.body.map(({ team_id }: { team_id: number }) => team_id)).toEqual([tenant.environmentId, second]);
});

test("reports missing dependencies, other organizations' projects and unknown flags when copying a flag", async () => {
  const base = await made('feature_flags', { key: 'base' });
  const condition = { key: String(base.id), type: 'flag', operator: 'flag_evaluates_to', value: true };
  await made('feature_flags', { key: 'top', filters: { groups: [{ properties: [condition] }] } });
  const asked = { feature_flag_key: 'top', from_project: tenant.projectId, target_project_ids: [second] };
  expect((await copy(asked)).body.failed).toEqual([
    {
      project_id: second,
      errors: "The flag depends on 'base', which does not exist in the target project. Copy 'base' first.",
    },
  ]);
  await copy({ ...asked, feature_flag_key: 'base' });
  const { success } = (await copy(asked)).body;
  expect(success[0].filters.groups[0].properties[0].key).not.toBe(String(base.id));
  const foreign = await createTestTenant(api.database);
  expect((await copy({ ...asked, target_project_ids: [foreign.projectId] })).body).toMatchObject({
    success: [],
    failed: [{ project_id: foreign.projectId, errors: 'Project not found.' }],
  });
  for (const [body, detail] of [
    [{ ...asked, feature_flag_key: 'nothing' }, 'Feature flag to copy does not exist.'],
    [{ ...asked, from_project: foreign.projectId }, 'Feature flag to copy does not exist.'],
    [{ feature_flag_key: 'top' }, 'Missing required fields'],
  ] as const) {
    expect(await copy(body)).toMatchObject({ status: 400, body: { detail } });
  }
});

test('copies an encrypted payload and encrypts it for the new project', async () => {
  const payload = '"not-to-be-seen"';
  const fields = { is_remote_configuration: true, has_encrypted_payloads: true };
  await made('feature_flags', { key: 'config', ...fields, filters: { groups: [{}], payloads: { true: payload } } });
  const asked = { feature_flag_key: 'config', from_project: tenant.projectId, target_project_ids: [second] };
  expect((await copy(asked)).body.success[0].filters.payloads).toEqual({ true: payload });
  const rows = await api.database.sql.query('SELECT filters FROM feature_flag WHERE key = $1', ['config']);
  expect(JSON.stringify(rows)).not.toContain('not-to-be-seen');
});

test("creates a cohort of a flag's users, and leaves computing its members to the delivery worker", async () => {
  const { id } = await made('feature_flags', { key: 'mine' });
  const { cohort } = await made(`feature_flags/${id}/create_static_cohort_for_flag`, undefined);
  expect(cohort).toMatchObject({
    is_static: true,
    name: expect.stringMatching(/^Users with feature flag mine enabled at /),
  });
  const rows = await api.database.sql.query('SELECT fill_from FROM cohort WHERE id = $1', [cohort.id]);
  expect(rows).toEqual([{ fill_from: { flag: id } }]);
  const unknown = `projects/${tenant.projectId}/feature_flags/2000000000/create_static_cohort_for_flag/`;
  expect((await send(unknown)).status).toBe(404);
});

describe('the blast radius of a flag condition', () => {
  const radius = (body: object) => send(`projects/${tenant.projectId}/feature_flags/user_blast_radius/`, body);

  test('counts the persons and groups that match a condition, ignoring the rollout percentage', async () => {
    const { sql } = api.database;
    for (const [id, value] of Object.entries({ a: 'pro', b: 'pro', c: 'free' })) {
      await storePerson(sql, tenant.environmentId, { distinctIds: [id], properties: { plan: value } });
    }
    await storeGroup(sql, tenant.environmentId, { type: 'company', index: 0, key: 'acme' });
    await storeGroup(sql, tenant.environmentId, { type: 'company', index: 0, key: 'other' });
    expect((await radius({ condition: { properties: [plan], rollout_percentage: 1 } })).body).toEqual({
      users_affected: 2,
      total_users: 3,
      is_estimate: false,
    });
    const key = { key: '$group_key', type: 'group', group_type_index: 0, operator: 'exact', value: 'acme' };
    expect((await radius({ condition: { properties: [key] }, group_type_index: 0 })).body).toEqual({
      users_affected: 1,
      total_users: 2,
      is_estimate: false,
    });
  });

  test('returns 400 for the blast radius of an invalid condition', async () => {
    expect(await radius({})).toMatchObject({
      status: 400,
      body: { detail: 'Missing condition for which to get blast radius' },
    });
    expect(await radius({ condition: { properties: [{ ...plan, operator: 'like' }] } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_operator' },
    });
  });

  test('estimates the blast radius for many persons', async () => {
    await api.database.sql.query(
      `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
       SELECT $1, md5('p' || n)::uuid, 'p' || n, jsonb_build_object('plan', CASE WHEN n % 4 = 0 THEN 'pro' ELSE 'free' END), now()
         FROM generate_series(1, 20000) AS n`,
      [tenant.environmentId],
    );
    const { body } = await radius({ condition: { properties: [plan] } });
    expect(body.is_estimate).toBe(true);
    expect(body.total_users).toBeGreaterThan(18_000);
    expect(body.total_users).toBeLessThan(22_000);
    expect(body.users_affected / body.total_users).toBeCloseTo(0.25, 1);
  });

  test('estimates the blast radius from a smaller sample if reading persons takes long', async () => {
    const { projectId } = tenant;
    await api.database.sql.query(
      `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
       SELECT $1, md5('l' || n)::uuid, 'l' || n, jsonb_build_object('plan', repeat('a', 100000)), now()
         FROM generate_series(1, 1000) AS n`,
      [projectId],
    );
    // On an idle machine, this filter takes about ten milliseconds per thousand persons.
    const slow = { ...plan, operator: 'not_icontains', value: `${'a'.repeat(499)}b` };
    const condition = { properties: Array.from({ length: 32 }, () => slow) };
    const { body } = await send(`projects/${projectId}/feature_flags/user_blast_radius/`, { condition });
    expect(body.is_estimate).toBe(true);
    expect(body.users_affected).toBe(body.total_users);
    expect(body.total_users).toBeGreaterThan(500);
    expect(body.total_users).toBeLessThan(2000);
  });
});
