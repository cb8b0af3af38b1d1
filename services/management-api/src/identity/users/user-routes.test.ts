import { createTestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

test('user-001: returns the caller with the current environment and organization, without secret keys', async () => {
  const tenant = await createTestTenant(api.database, { email: 'ada@example.com', organizationName: 'Acme' });
  const { status, body } = await api.get('/api/users/@me', tenant.personalApiKey);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    email: 'ada@example.com',
    team: { id: tenant.projectId, api_token: tenant.projectApiKey },
    organization: { id: tenant.organizationId, name: 'Acme', membership_level: 15 },
    organizations: [{ id: tenant.organizationId, name: 'Acme', membership_level: 15 }],
  });
  expect(JSON.stringify(body)).not.toMatch(/"password|phx_|secure_value/);
});

test('returns a user who has no organization', async () => {
  const tenant = await createTestTenant(api.database);
  await api.database.prisma.membership.deleteMany({ where: { user_id: tenant.userId } });
  const { status, body } = await api.get('/api/users/@me/', tenant.personalApiKey);
  expect([status, body.team, body.organization, body.organizations]).toEqual([200, null, null, []]);
});

test('the list of users contains only the caller, even when filtered by another email address', async () => {
  const tenant = await createTestTenant(api.database);
  const list = async (query: string) => {
    const { status, body } = await api.get(`/api/users/${query}`, tenant.personalApiKey);
    expect(status).toBe(200);
    return [body.count, body.results.length];
  };
  const { body } = await api.get('/api/users/@me/', tenant.personalApiKey);
  expect(await list('')).toEqual([1, 1]);
  expect(await list(`?email=${encodeURIComponent(body.email.toUpperCase())}`)).toEqual([1, 1]);
  expect(await list('?email=unknown@example.com')).toEqual([0, 0]);
});
