import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests that demo data cannot be used to bypass plan limits. */
let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database, { plan: 'free' });
});
afterAll(() => api.stop());

const send = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => {
  const response = await api.send(method, path, { key: tenant.personalApiKey, ...(body && { body }) });
  return { status: response.status, id: response.body?.id as number };
};
const environmentsOf = (projectId: number) => `/api/projects/${projectId}/environments/`;
const countProjects = async () => (await api.get('/api/projects/', tenant.personalApiKey)).body.count as number;

test('returns 403 for a new environment in a demo project', async () => {
  const demo = await send('POST', '/api/projects/', { is_demo: true });
  expect(await send('POST', environmentsOf(demo.id), { name: 'Real' })).toMatchObject({ status: 403 });
  expect(await send('POST', environmentsOf(demo.id), { is_demo: true })).toMatchObject({ status: 403 });
});

test("marking one project after another as demo data does not bypass the plan's project limit", async () => {
  let real = tenant.projectId;
  const statuses: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    await send('POST', environmentsOf(real), { is_demo: true });
    await send('DELETE', `/api/environments/${real}/`);
    const made = await send('POST', '/api/projects/', { name: 'Next' });
    statuses.push(made.status);
    real = made.id ?? real;
  }
  expect([statuses, await countProjects()]).toEqual([[201, 403, 403], 2]);
});

test("allows no more concurrent changes from demo to real projects than the plan's limit", async () => {
  const { sql } = api.database;
  const features = ['organizations_projects', 'environments'].map((key) => ({ key, name: key, limit: 3 }));
  await sql.query('UPDATE organization SET available_product_features = $2 WHERE id = $1', [
    tenant.organizationId,
    JSON.stringify(features),
  ]);
  const more = [
    await send('POST', '/api/projects/', { name: 'b' }),
    await send('POST', '/api/projects/', { name: 'c' }),
  ];
  const demo = await send('POST', '/api/projects/', { is_demo: true });
  // Create a second demo project with SQL, because the API does not allow it.
  await sql.query('UPDATE environment SET is_demo = true WHERE id = $1', [more[0]?.id]);
  const responses = await Promise.all(
    [demo.id, Number(more[0]?.id)].map((id) => send('PATCH', `/api/projects/${id}/`, { is_demo: false })),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 403]);
});
