import { randomUUID } from 'node:crypto';
import { createPersonalApiKey } from '@millrace/accounts';
import type { Scope } from '@millrace/contracts';
import { createTestOrganization, createTestProject, createTestTenant, type TestTenant } from '@millrace/testing';
import { declaredRoutes } from '../testing/declared-routes.ts';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';

/** What keys for single projects and organizations reach, and odd addresses, on every list. All routes: `route-matrix`. */
const declared = declaredRoutes();
const isList = (path: string) =>
  declared.some((route) => route.path === path && route.method === 'GET') &&
  !/(:id|:role_id|:query_id|:uuid|\/live\/|@me|webauthn|groups\/(find|members|related)|event_definitions\/by_name|(events|persons)\/values|persons\/cohorts|\/environments|\/users|personal_api_keys|subscriptions|batch_exports|evaluation_reasons)/.test(
    path,
  );
const protectedRoutes = [
  ...new Set(declared.filter((route) => route.scope !== 'public' && isList(route.path)).map((route) => route.path)),
];
const projectRoutes = protectedRoutes.filter((path) => path.includes(':project_id'));
const organizationRoutes = protectedRoutes.filter((path) => path.includes(':organization_id'));
const slashes = (paths: string[]) => paths.flatMap((path) => [path, `${path}/`]);
const scopeOf = (path: string) =>
  declared.find((route) => route.method === 'GET' && route.path === path.replace(/\/$/, ''))?.scope as Scope;

let api: TestApi;
let own: TestTenant;
let foreign: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  own = await createTestTenant(api.database);
  foreign = await createTestTenant(api.database);
});
afterAll(() => api.stop());

const fill = (path: string, { organizationId, projectId }: { organizationId: string; projectId: number | string }) =>
  path.replace(':organization_id', organizationId).replace(':project_id', String(projectId));

const keyWith = async (options: {
  scopes?: Scope[];
  scopedTeams?: number[];
  scopedOrganizations?: string[];
  userId?: number;
}) => {
  const created = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: own.userId,
    label: 'key',
    scopes: ['*'],
    ...options,
  });
  // A user has ten keys at most; each test makes its own.
  disposable.push(created.key.id);
  return created.value;
};
const disposable: string[] = [];
afterEach(async () => {
  await api.database.prisma.personal_api_key.deleteMany({ where: { id: { in: disposable.splice(0) } } });
});

const error = (type: string, code: string, detail: string) => ({ type, code, detail, attr: null });
const denied = (detail: string) => error('authentication_error', 'permission_denied', detail);
const missing = (detail: string) => error('invalid_request', 'not_found', detail);

describe.each(slashes(protectedRoutes))('%s', (path) => {
  test('K12, K14: the read scope alone suffices, and so does write', async () => {
    const needed = scopeOf(path);
    for (const scope of [needed, needed.replace(':read', ':write') as Scope]) {
      expect((await api.get(fill(path, own), await keyWith({ scopes: [scope] }))).status).toBe(200);
    }
  });

  test('G12: an unmapped method is refused: 401 first, then 405 with Allow', async () => {
    const url = api.url + fill(path, own);
    expect((await fetch(url, { method: 'PROPFIND' })).status).toBe(401);
    const headers = { authorization: `Bearer ${own.personalApiKey}` };
    const response = await fetch(url, { method: 'PROPFIND', headers });
    const mapped = declared.filter((route) => route.path === path.replace(/\/$/, '')).map((route) => route.method);
    expect([response.status, response.headers.get('allow')?.split(', ').sort()]).toEqual([
      405,
      [...mapped, 'HEAD', 'OPTIONS'].sort(),
    ]);
    expect(await response.json()).toEqual(
      error('invalid_request', 'method_not_allowed', 'Method "PROPFIND" not allowed.'),
    );
  });
});

describe.each(projectRoutes)('%s', (path) => {
  test.each([
    'the number of a foreign project',
    'an unknown number',
    'abc',
    '0',
    '-1',
    '1.5',
    '9999999999',
    '2147483648',
    "1' OR '1'='1",
  ])('%s is not found', async (name) => {
    const projectId = name.startsWith('the') ? foreign.projectId : name.startsWith('an') ? 2_000_000_000 : name;
    const address = fill(path, { ...own, projectId: encodeURIComponent(projectId) });
    const expected = { status: 404, body: missing('Project not found.') };
    expect(await api.get(address, own.personalApiKey)).toMatchObject(expected);
  });

  test('@current is the first project of the caller', async () => {
    expect((await api.get(fill(path, { ...own, projectId: '@current' }), own.personalApiKey)).status).toBe(200);
  });

  test('K20: a key for this project works here', async () => {
    const key = await keyWith({ scopedTeams: [own.environmentId] });
    expect((await api.get(fill(path, own), key)).status).toBe(200);
    expect((await api.get(fill(path, { ...own, projectId: '@current' }), key)).status).toBe(200);
  });

  test('a key for another project of the caller does not', async () => {
    const { project } = await createTestProject(api.database, { organizationId: own.organizationId, name: 'Other' });
    const key = await keyWith({ scopedTeams: [project.id] });
    const detail = `API key does not have access to the requested project: ID ${own.projectId}.`;
    expect(await api.get(fill(path, own), key)).toMatchObject({ status: 403, body: denied(detail) });
  });

  test('K18: a key for another organization of the caller does not, nor is it told which this one is', async () => {
    const key = await keyForSecondOrganization();
    const detail = `API key does not have access to the requested project: ID ${own.projectId}.`;
    expect(await api.get(fill(path, own), key)).toMatchObject({ status: 403, body: denied(detail) });
  });

  test('a member who left sees nothing from the next request on', async () => {
    const leaver = await createTestTenant(api.database);
    expect((await api.get(fill(path, leaver), leaver.personalApiKey)).status).toBe(200);
    await api.database.prisma.membership.deleteMany({ where: { user_id: leaver.userId } });
    for (const projectId of [leaver.projectId, '@current']) {
      const answer = await api.get(fill(path, { ...leaver, projectId }), leaver.personalApiKey);
      expect(answer).toMatchObject({ status: 404, body: missing('Project not found.') });
    }
  });
});

describe.each(organizationRoutes)('%s', (path) => {
  test('a foreign organization is refused', async () => {
    const expected = denied('You do not have permission to perform this action.');
    const address = fill(path, foreign);
    expect(await api.get(address, own.personalApiKey)).toMatchObject({ status: 403, body: expected });
  });

  test.each([randomUUID(), 'not-a-uuid', '1', "'; --"])(
    'an organization that does not exist is not found: %s',
    async (id) => {
      const address = fill(path, { ...own, organizationId: encodeURIComponent(id) });
      const expected = { status: 404, body: missing('Organization not found.') };
      expect(await api.get(address, own.personalApiKey)).toMatchObject(expected);
    },
  );

  test('@current and an id in capitals are understood', async () => {
    for (const organizationId of ['@current', own.organizationId.toUpperCase()]) {
      expect((await api.get(fill(path, { ...own, organizationId }), own.personalApiKey)).status).toBe(200);
    }
  });

  test('K16: a key for this organization works here', async () => {
    const key = await keyWith({ scopedOrganizations: [own.organizationId] });
    expect((await api.get(fill(path, own), key)).status).toBe(200);
  });

  test('K18: a key for another organization of the caller does not', async () => {
    const key = await keyForSecondOrganization();
    const detail = `API key does not have access to the requested organization: ID ${own.organizationId}.`;
    expect(await api.get(fill(path, own), key)).toMatchObject({ status: 403, body: denied(detail) });
  });
});

describe('keys for single projects and organizations', () => {
  /** `/api/feature_flag` belongs to a project as well: its token or the current one. */
  const isOfProject = (path: string) => path.includes(':project_id') || path === '/api/feature_flag';
  test.each(protectedRoutes.filter((path) => !isOfProject(path) && !path.startsWith('/api/users')))(
    'K21, K22: %s is closed to a key for single projects',
    async (path) => {
      const key = await keyWith({ scopedTeams: [own.environmentId] });
      const detail = 'API keys with scoped projects are only supported on project-based endpoints.';
      expect(await api.get(fill(path, own), key)).toMatchObject({ status: 403, body: denied(detail) });
    },
  );

  test('K23: /api/users/@me/ is open to both kinds', async () => {
    for (const options of [{ scopedTeams: [own.environmentId] }, { scopedOrganizations: [own.organizationId] }]) {
      const { status, body } = await api.get('/api/users/@me/', await keyWith(options));
      expect([status, body.team.id, body.organization.id]).toEqual([200, own.projectId, own.organizationId]);
    }
  });

  test('K19, K24: lists show what the key is for and nothing else', async () => {
    const key = await keyForSecondOrganization();
    const organizations = (await api.get('/api/organizations/', key)).body;
    const projects = (await api.get('/api/projects/', key)).body;
    const me = (await api.get('/api/users/@me/', key)).body;
    for (const seen of [organizations, projects, me]) {
      expect(JSON.stringify(seen)).not.toContain(own.organizationId);
      expect(JSON.stringify(seen)).not.toContain(foreign.organizationId);
    }
    expect([organizations.count, projects.count, me.organizations.length]).toEqual([1, 1, 1]);
  });
});

/** Puts the caller into a second organization with one project and makes a key for that one only. */
async function keyForSecondOrganization(): Promise<string> {
  const { prisma } = api.database;
  const second = await createTestOrganization(api.database, { name: 'Second' });
  await createTestProject(api.database, { organizationId: second.id, name: 'Of the second' });
  await prisma.membership.create({
    data: { id: randomUUID(), organization_id: second.id, user_id: own.userId, level: 1 },
  });
  return keyWith({ scopedOrganizations: [second.id] });
}
