import { createPersonalApiKey } from '@millrace/accounts';
import { createTestProject, createTestTenant, type TestTenant } from '@millrace/testing';
import { createActors } from '../../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../../testing/start-test-api.ts';

/** These tests request `GET /api/feature_flag/?token=`, from which old SDKs read the flags of a project. */
let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database);
  for (const key of ['one', 'two', 'three']) await createFlag(tenant.projectId, key);
});
afterAll(() => api.stop());

const createFlag = (projectId: number, key: string, caller = tenant.personalApiKey) =>
  api.send('POST', `/api/projects/${projectId}/feature_flags/`, { key: caller, body: { key } });
const list = (query: string, key = tenant.personalApiKey) => api.get(`/api/feature_flag/${query}`, key);
const keysOf = (response: Awaited<ReturnType<typeof list>>) =>
  response.body.results.map(({ key }: { key: string }) => key);

test("lists the same flags for a project token as at the project's own path", async () => {
  const { status, body } = await list(`?token=${tenant.projectApiKey}`);
  const usual = await api.get(`/api/projects/${tenant.projectId}/feature_flags/`, tenant.personalApiKey);
  expect([status, body]).toEqual([200, usual.body]);
  expect(body.results[0]).toMatchObject({ key: 'three', active: true, is_simple_flag: expect.any(Boolean) });
});

test('includes the token and the filters in the link to the next page of flags', async () => {
  const first = await list(`?token=${tenant.projectApiKey}&limit=2&order=key`);
  expect(keysOf(first)).toEqual(['one', 'three']);
  expect(keysOf(await api.get(first.body.next, tenant.personalApiKey))).toEqual(['two']);
});

test('lists the flags of the current project if no token is given', async () => {
  expect(keysOf(await list(''))).toHaveLength(3);
});

test.each(['phc_unknown', 'the token of another organization', '%00', ''])(
  'returns 400 for flags requested with %s',
  async (token) => {
    const other = await createTestTenant(api.database);
    const sent = token.startsWith('the') ? other.projectApiKey : token;
    expect(await list(`?token=${sent}`)).toMatchObject({ status: 400, body: { attr: 'token' } });
  },
);

test('returns 401 for flags requested without a personal API key', async () => {
  const { status } = await fetch(`${api.url}/api/feature_flag/?token=${tenant.projectApiKey}`);
  expect(status).toBe(401);
});

test('returns 403 for flags requested with a key that is limited to other projects', async () => {
  const { project } = await createTestProject(api.database, { organizationId: tenant.organizationId, name: 'Second' });
  const { value } = await createPersonalApiKey(api.database.sql, {
    ...{
      actor: null,
      userId: tenant.userId,
      label: 'k',
      scopes: ['feature_flag:read'],
      scopedEnvironments: [project.id],
    },
  });
  expect((await list(`?token=${tenant.projectApiKey}`, value)).status).toBe(403);
});

test('applies the same access rules to flags requested with a token as to flags requested by project', async () => {
  const actors = await createActors(api.database);
  const flags = `/api/projects/${actors.projectId}/feature_flags/`;
  for (const key of ['open', 'closed']) await createFlag(actors.projectId, key, actors.A.key);
  const { id } = (await api.get(flags, actors.A.key)).body.results.find(({ key }: { key: string }) => key === 'closed');
  const [row] = await api.database.sql.query('SELECT api_token FROM environment WHERE id = $1', [actors.projectId]);
  const listed = () => list(`?token=${row?.api_token}`, actors.M.key);
  const close = (path: string, body: object) => api.send('PUT', path, { key: actors.A.key, body });
  await close(`${flags}${id}/access_controls/`, { access_level: 'none' });
  expect(keysOf(await listed())).toEqual(['open']);
  await close(`/api/projects/${actors.projectId}/resource_access_controls/`, {
    ...{ resource: 'feature_flag', access_level: 'none' },
  });
  expect((await listed()).status).toBe((await api.get(flags, actors.M.key)).status);
  expect((await listed()).status).toBe(403);
});
