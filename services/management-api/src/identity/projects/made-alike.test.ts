import { createOwnedOrganization, createProject, createUser } from '@millrace/accounts';
import { listProductFeatures } from '@millrace/contracts';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests that the API, the command line and `npm start` create identical projects. */
let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database, { email: 'owner@example.com' });
});
afterAll(() => api.stop());

const actor = { command: 'project create' };

/**
 * Returns all columns of the first environment and all records of an organization, except values that differ between
 * projects.
 */
async function made(organizationId: string, projectId: number) {
  const [environment] = await api.database.sql.query(
    `SELECT to_jsonb(e) - '{id,uuid,project_id,api_token,created_at,updated_at}'::text[] AS columns, p.name, p.product_description
       FROM environment e JOIN project p ON p.id = e.project_id WHERE p.id = $1`,
    [projectId],
  );
  const history = await api.database.sql.query(
    `SELECT scope, activity, environment_id IS NOT NULL AS is_of_environment, detail - 'trigger' AS detail
       FROM activity_log WHERE organization_id = $1 AND (environment_id = $2 OR environment_id IS NULL) ORDER BY id`,
    [organizationId, projectId],
  );
  return { environment, history };
}

test('the API and the command line create identical projects in an existing organization', async () => {
  const { organizationId } = tenant;
  const path = `/api/organizations/${organizationId}/projects/`;
  const response = await api.send('POST', path, { key: tenant.personalApiKey, body: { name: 'Shop' } });
  const { project } = await api.database.transaction((tx) =>
    createProject(tx, { organizationId, settings: { name: 'Shop' }, actor }),
  );
  const byApi = await made(organizationId, response.body.id);
  expect(byApi.environment?.columns).toMatchObject({
    test_account_filters: [{ value: '@example.com' }, { key: '$host' }],
  });
  expect(byApi.history.map(({ scope }) => scope)).toEqual(['Project', 'Team']);
  expect(await made(organizationId, project.id)).toEqual(byApi);
});

test('the API and the command line create identical projects in a new organization', async () => {
  const { status, body } = await api.send('POST', '/api/organizations/', {
    key: tenant.personalApiKey,
    body: { name: 'New' },
  });
  expect(status).toBe(201);
  const byCommand = await api.database.transaction(async (tx) => {
    const { id: ownerId } = await createUser(tx, { email: 'other@example.com' });
    return createOwnedOrganization(tx, { name: 'New', features: listProductFeatures('full'), ownerId, actor });
  });
  const byApi = await made(body.id, body.projects[0].id);
  expect(byApi.history.map(({ scope }) => scope)).toEqual(['Organization', 'Project', 'Team']);
  expect(await made(byCommand.organization.id, byCommand.project.id)).toEqual(byApi);
});

test('the API and the command line reject the same time zones', async () => {
  const { organizationId } = tenant;
  for (const timezone of ['europe/vienna', '+02:00', 'Mars/Olympus']) {
    const path = `/api/organizations/${organizationId}/projects/`;
    const { status, body } = await api.send('POST', path, { key: tenant.personalApiKey, body: { timezone } });
    const byCommand = api.database.transaction((tx) =>
      createProject(tx, { organizationId, settings: { timezone }, actor }),
    );
    await expect(byCommand).rejects.toMatchObject({ kind: 'invalid', attr: 'timezone', message: body.detail });
    expect([status, body.attr]).toEqual([400, 'timezone']);
  }
});
