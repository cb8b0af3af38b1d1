import { randomUUID } from 'node:crypto';
import { addMember } from '@millrace/accounts';
import type { MembershipLevel } from '@millrace/contracts';
import {
  createTestEnvironment,
  createTestOrganization,
  createTestProject,
  createTestTenant,
  type TestTenant,
} from '@millrace/testing';
import { createActor } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database, { projectName: 'First' });
});
afterAll(() => api.stop());

test("a project summary has the API's fields in order, with the first environment's settings", async () => {
  const { sql } = api.database;
  await sql.query("UPDATE environment SET timezone = 'Europe/Berlin', ingested_event = true WHERE id = $1", [
    tenant.projectId,
  ]);
  await createTestEnvironment(api.database, { projectId: tenant.projectId, name: 'Staging' });
  const { body } = await api.get('/api/projects/', tenant.personalApiKey);
  expect(body).toEqual({ count: 1, next: null, previous: null, results: [expect.anything()] });
  const [{ uuid }] = (await sql.query<{ uuid: string }>('SELECT uuid FROM environment WHERE id = $1', [
    tenant.projectId,
  ])) as [{ uuid: string }];
  expect(Object.entries(body.results[0])).toEqual([
    ['id', tenant.projectId],
    ['uuid', uuid],
    ['organization', tenant.organizationId],
    ['api_token', tenant.projectApiKey],
    ['name', 'First'],
    ['completed_snippet_onboarding', false],
    ['has_completed_onboarding_for', null],
    ['ingested_event', true],
    ['is_demo', false],
    ['timezone', 'Europe/Berlin'],
    ['access_control', false],
  ]);
});

test("lists exactly the projects of the caller's organizations, sorted by ID", async () => {
  const second = await createTestOrganization(api.database, { name: 'Second' });
  await addMember(api.database.sql, { organizationId: second.id, userId: tenant.userId, level: 1 });
  const other = await createTestProject(api.database, { organizationId: second.id, name: 'Other' });
  await createTestTenant(api.database);
  const all = await api.get('/api/projects', tenant.personalApiKey);
  expect(all.body.results.map((project: { id: number }) => project.id)).toEqual([tenant.projectId, other.project.id]);
  const ofSecond = await api.get(`/api/organizations/${second.id}/projects`, tenant.personalApiKey);
  expect(ofSecond.body).toMatchObject({ count: 1, results: [{ id: other.project.id, organization: second.id }] });
});

test.each<MembershipLevel>([1, 8, 15])(
  "pages include the projects of all the caller's organizations if the caller has level %i in the second one",
  async (level) => {
    const second = await createTestOrganization(api.database, { name: 'Second' });
    await addMember(api.database.sql, { organizationId: second.id, userId: tenant.userId, level });
    const ids = [tenant.projectId];
    for (const organizationId of [second.id, tenant.organizationId, second.id, tenant.organizationId]) {
      ids.push((await createTestProject(api.database, { organizationId, name: randomUUID() })).project.id);
    }
    const pages: number[][] = [];
    for (let path = '/api/projects/?limit=2'; path !== ''; ) {
      const { body } = await api.get(path, tenant.personalApiKey);
      expect(body.count).toBe(5);
      pages.push(body.results.map((project: { id: number }) => project.id));
      path = body.next === null ? '' : body.next.slice(api.url.length);
    }
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  },
);

test('project-001: lists project summaries', async () => {
  const { body } = await api.get(`/api/organizations/${tenant.organizationId}/projects/`, tenant.personalApiKey);
  expect(Object.keys(body.results[0])).toHaveLength(11);
});

test('returns no projects to a caller without an organization', async () => {
  await api.database.prisma.membership.deleteMany({ where: { user_id: tenant.userId } });
  const { body } = await api.get('/api/projects/', tenant.personalApiKey);
  expect(body).toEqual({ count: 0, next: null, previous: null, results: [] });
  const current = await api.get('/api/organizations/@current/projects/', tenant.personalApiKey);
  expect([current.status, current.body.detail]).toEqual([404, 'Current organization not found.']);
});

describe('pages of projects', () => {
  let projects: number[];
  beforeAll(async () => {
    tenant = await createTestTenant(api.database);
    for (let index = 0; index < 4; index += 1) {
      await createTestProject(api.database, { organizationId: tenant.organizationId, name: `P${index}` });
    }
    paged = tenant;
    const rows = await api.database.sql.query<{ id: number }>(
      'SELECT id FROM project WHERE organization_id = $1 ORDER BY id',
      [tenant.organizationId],
    );
    projects = rows.map((row) => row.id);
  });
  let paged: TestTenant;

  test.each([
    ['request-001', '?limit=2', 0, 2, '?limit=2&offset=2', null],
    ['request-002', '?limit=2&offset=2', 2, 4, '?limit=2&offset=4', '?limit=2'],
    ['request-003', '?limit=abc', 0, 5, null, null],
    ['request-004', '?limit=1000', 0, 5, null, null],
    ['request-005', '?limit=1&offset=-3', 0, 1, '?limit=1&offset=1', null],
    ['request-006', '?limit=2&offset=9', 9, 9, null, '?limit=2&offset=7'],
    // PostHog ignores unknown parameters, but Millrace rejects them with 400. `format` stays in the page links, because
    // every request can have this parameter.
    ['request-007', '?limit=4&format=json', 0, 4, '?format=json&limit=4&offset=4', null],
  ])('%s: %s', async (_case, query, from, to, next, previous) => {
    for (const path of [`/api/organizations/${paged.organizationId}/projects`, '/api/projects/']) {
      const { body } = await api.get(path + query, paged.personalApiKey);
      const link = (text: string | null) => (text === null ? null : `${api.url}${path}${text}`);
      expect(body.results.map((project: { id: number }) => project.id)).toEqual(projects.slice(from, to));
      expect([body.count, body.next, body.previous]).toEqual([5, link(next), link(previous)]);
    }
  });

  test('runs the same number of SQL statements for a page of any length', async () => {
    const cost = (query: string) => api.statementsOf(() => api.get(`/api/projects/${query}`, paged.personalApiKey));
    expect(await cost('?limit=1')).toBe(await cost('?limit=5'));
    expect(await cost('')).toBeLessThanOrEqual(3);
  });
});

test('uses the forwarded host in links only if the proxy is trusted', async () => {
  const headers = {
    authorization: `Bearer ${tenant.personalApiKey}`,
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'api.example.com',
  };
  const nextOf = async (url: string, key: Record<string, string>) => {
    const response = await fetch(`${url}/api/projects?limit=1`, { headers: key });
    return ((await response.json()) as { next: string }).next;
  };
  await createTestProject(api.database, { organizationId: tenant.organizationId, name: randomUUID() });
  expect(await nextOf(api.url, headers)).toBe(`${api.url}/api/projects?limit=1&offset=1`);
  const trusting = await startTestApi({ trustedProxies: 1, publicUrl: undefined });
  const other = await createTestTenant(trusting.database);
  await createTestProject(trusting.database, { organizationId: other.organizationId, name: 'Second' });
  const otherHeaders = { ...headers, authorization: `Bearer ${other.personalApiKey}` };
  expect(await nextOf(trusting.url, otherHeaders)).toBe('https://api.example.com/api/projects?limit=1&offset=1');
  await trusting.stop();
});

test('lets the user who deleted a project find it but not access it, as the Terraform provider expects', async () => {
  const owner = await createTestTenant(api.database);
  const stranger = await createTestTenant(api.database);
  const colleague = await createActor(api.database, owner.organizationId, 8);
  const path = `/api/projects/${owner.projectId}/`;
  const rules = `${path}access_controls/`;
  await api.send('PUT', rules, { key: owner.personalApiKey, body: { access_level: 'admin' } });
  expect((await api.send('DELETE', path, { key: owner.personalApiKey })).status).toBe(204);
  expect(await api.get(rules, owner.personalApiKey)).toMatchObject({
    status: 200,
    body: {
      access_controls: [{ access_level: 'none', resource: 'project', organization_member: null, role: null }],
      user_access_level: null,
      user_can_edit_access_levels: false,
    },
  });
  for (const key of [colleague.key, stranger.personalApiKey]) expect((await api.get(rules, key)).status).toBe(404);
  expect((await api.get(path, owner.personalApiKey)).status).toBe(404);
  const change = { key: owner.personalApiKey, body: { access_level: 'member' } };
  expect((await api.send('PUT', rules, change)).status).toBe(404);
  await api.database.sql.query('DELETE FROM environment_cleanup WHERE environment_id = $1', [owner.projectId]);
  expect((await api.get(rules, owner.personalApiKey)).status).toBe(404);
});
