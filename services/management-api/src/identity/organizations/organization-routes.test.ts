import { addMember, createUser } from '@millrace/accounts';
import { createTestOrganization, createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database, { organizationName: 'Acme', projectName: 'Shop', level: 8 });
});
afterAll(() => api.stop());

test("shows an organization with the caller's level, the projects and the active members", async () => {
  const { prisma } = api.database;
  for (const isActive of [true, false]) {
    const user = await createUser(api.database.sql, { email: `${isActive}-${tenant.userId}@example.com` });
    await prisma.user.update({ where: { id: user.id }, data: { is_active: isActive } });
    await addMember(api.database.sql, { organizationId: tenant.organizationId, userId: user.id, level: 1 });
  }
  const { status, body } = await api.get(`/api/organizations/${tenant.organizationId}/`, tenant.personalApiKey);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: tenant.organizationId,
    name: 'Acme',
    membership_level: 8,
    member_count: 2,
    projects: [{ id: tenant.projectId, organization_id: tenant.organizationId, name: 'Shop' }],
  });
  expect(await api.get('/api/organizations/@current', tenant.personalApiKey)).toMatchObject({ status: 200, body });
});

test("lists the caller's organizations in pages, oldest first", async () => {
  const second = await createTestOrganization(api.database, { name: 'Second' });
  await addMember(api.database.sql, { organizationId: second.id, userId: tenant.userId, level: 1 });
  await createTestTenant(api.database);
  const { body } = await api.get('/api/organizations/?limit=1', tenant.personalApiKey);
  expect(body).toMatchObject({
    count: 2,
    next: `${api.url}/api/organizations/?limit=1&offset=1`,
    previous: null,
    results: [{ id: tenant.organizationId, membership_level: 8 }],
  });
  const rest = await api.get(body.next, tenant.personalApiKey);
  expect(rest.body).toMatchObject({ next: null, results: [{ id: second.id, membership_level: 1, projects: [] }] });
});
