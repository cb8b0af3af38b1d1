import { createPersonalApiKey } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { createTestProject } from '@millrace/testing';
import { createActor, createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let acme: OrganizationActors;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
  path = `/api/projects/${acme.projectId}/annotations/`;
});

const send = (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', where: string, body?: object, key = acme.M.key) =>
  api.send(method, where, { key, ...(body && { body }) });
async function create(body: object, where = path): Promise<number> {
  const { status, body: made } = await send('POST', where, body);
  expect([status, made.detail]).toEqual([201, undefined]);
  return made.id;
}
const contents = async (query = '', where = path) =>
  (await api.get(`${where}${query}`, acme.M.key)).body.results.map(({ content }: { content: string }) => content);
async function createRecord(kind: 'insights' | 'dashboards', body: object): Promise<number> {
  return (await send('POST', `/api/projects/${acme.projectId}/${kind}/`, body)).body.id;
}
const createInsight = () =>
  createRecord('insights', { name: 'Orders', query: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode' }] } });
const hide = (resource: string, id: number) =>
  api.send('PUT', `/api/projects/${acme.projectId}/${resource}/${id}/access_controls/`, {
    key: acme.A.key,
    body: { access_level: 'none' },
  });

describe.each(['projects', 'environments'])('annotation routes under %s', (family) => {
  it('annotation-001 creates, shows, changes and restores an annotation with every field', async () => {
    const where = `/api/${family}/${acme.projectId}/annotations/`;
    const fields = {
      content: 'Released 2.0',
      date_marker: '2026-11-20T09:00:00Z',
      scope: 'project',
      creation_type: 'GIT',
      emoji: '🚀',
      hidden_in_user_interface: true,
    };
    const { status, body: created } = await send('POST', where, fields);
    expect(status).toBe(201);
    expect(created).toMatchObject({
      ...fields,
      deleted: false,
      dashboard_item: null,
      dashboard_id: null,
      dashboard_name: null,
      created_by: { id: acme.M.userId },
    });
    expect((await api.get(`${where}${created.id}/`, acme.M.key)).body).toEqual(created);

    const changed = await send('PATCH', `${where}${created.id}/`, { content: null, emoji: '', deleted: true });
    expect(changed.body).toMatchObject({ ...fields, content: null, emoji: null, deleted: true });
    expect((await api.get(where, acme.M.key)).body).toMatchObject({ count: 0, results: [] });
    const restored = await send('PUT', `${where}${created.id}/`, { content: 'Back', deleted: false });
    expect(restored.body).toMatchObject({ content: 'Back', creation_type: 'GIT', deleted: false });
    expect((await send('DELETE', `${where}${created.id}/`)).status).toBe(405);
    expect((await api.get(where, acme.M.key)).body).toMatchObject({ count: 1, results: [{ id: created.id }] });
  });
});

it("uses PostHog's defaults for omitted annotation fields", async () => {
  const { body } = await send('POST', path, {});
  expect(body).toMatchObject({ content: null, date_marker: null, scope: 'dashboard_item', creation_type: 'USR' });
});

it.each([
  ['annotation-002', 'the former scope', { scope: 'recording' }, 'scope', 'Recording scope is deprecated'],
  ['annotation-002', 'an unknown dashboard', { dashboard_id: 770_000_001 }, 'dashboard_id', 'Dashboard not found.'],
  ['annotation-007', 'an unknown insight', { dashboard_item: 770_000_001 }, 'dashboard_item', 'Insight not found.'],
  ['annotation-008', 'an unknown scope', { scope: 'team' }, 'scope', '"team" is not a valid choice.'],
  ['annotation-009', 'content that is too long', { content: 'x'.repeat(8193) }, 'content', expect.any(String)],
  ['annotation-010', 'an invalid time', { date_marker: 'yesterday' }, 'date_marker', expect.any(String)],
  ['annotation-011', 'an emoji that is too long', { emoji: 'x'.repeat(17) }, 'emoji', expect.any(String)],
  ['annotation-012', 'an unknown creation type', { creation_type: 'BOT' }, 'creation_type', expect.any(String)],
])('%s returns 400 for %s', async (_no, _what, body, attr, detail) => {
  expect(await send('POST', path, body)).toMatchObject({ status: 400, body: { attr, detail } });
});

it('annotation-002 returns 400 for a dashboard of another project', async () => {
  const other = await createTestProject(api.database, { organizationId: acme.organizationId });
  const dashboards = `/api/projects/${other.environment.id}/dashboards/`;
  const { body: foreign } = await send('POST', dashboards, { name: 'Elsewhere' });
  expect(await send('POST', path, { dashboard_id: foreign.id })).toMatchObject({
    status: 400,
    body: { attr: 'dashboard_id', detail: 'Dashboard not found.' },
  });
});

it("annotation-003 shows an organization's annotations as read-only in projects other than their own", async () => {
  const other = await createTestProject(api.database, { organizationId: acme.organizationId });
  const elsewhere = `/api/projects/${other.environment.id}/annotations/`;
  const dashboard = await createRecord('dashboards', { name: 'Board' });
  const id = await create({ content: 'for all', scope: 'organization', dashboard_id: dashboard });
  await create({ content: 'for one project', scope: 'project' });
  expect(await contents('', elsewhere)).toEqual(['for all']);
  // The dashboard belongs to another project, so the response omits it.
  expect((await api.get(`${elsewhere}${id}/`, acme.M.key)).body).toMatchObject({
    dashboard_id: null,
    dashboard_name: null,
  });
  expect(await send('PATCH', `${elsewhere}${id}/`, { content: 'mine' })).toMatchObject({
    status: 403,
    body: { detail: 'This annotation belongs to another project. Change it in that project.' },
  });
});

it('annotation-005 filters annotations by scope, time, text and visibility, and sorts by latest date marker', async () => {
  const insight = await createInsight();
  const at = (day: number) => `2026-11-${day}T00:00:00Z`;
  await create({ content: 'Old release', date_marker: at(10), scope: 'project' });
  await create({ content: 'New RELEASE', date_marker: at(12), scope: 'project', hidden_in_user_interface: true });
  await create({ content: 'Spike', date_marker: at(11), dashboard_item: insight });
  await create({ content: 'Undated', scope: 'organization' });
  expect(await contents()).toEqual(['New RELEASE', 'Spike', 'Old release', 'Undated']);
  expect(await contents('?scope=insight')).toEqual(['Spike']);
  expect(await contents('?scope=project')).toEqual(['New RELEASE', 'Old release']);
  expect(await contents('?search=release')).toEqual(['New RELEASE', 'Old release']);
  expect(await contents(`?date_from=${at(11)}`)).toEqual(['New RELEASE', 'Spike']);
  expect(await contents(`?date_to=${at(11)}`)).toEqual(['Spike', 'Old release']);
  expect(await contents('?hidden_in_user_interface=true')).toEqual(['New RELEASE']);
  expect(await contents('?hidden_in_user_interface=false&limit=1&offset=1')).toEqual(['Old release']);
  expect(await api.get(`${path}?date_from=${at(12)}&date_to=${at(11)}`, acme.M.key)).toMatchObject({
    status: 400,
    body: { attr: 'date_from', detail: '`date_from` must not be after `date_to`.' },
  });
});

it('annotation-006 hides an annotation while its insight or dashboard is deleted', async () => {
  const insight = await createInsight();
  const dashboard = await createRecord('dashboards', { name: 'Board' });
  await create({ content: 'at the insight', dashboard_item: insight });
  await create({ content: 'on the dashboard', scope: 'dashboard', dashboard_id: dashboard });
  await create({ content: 'in the project', scope: 'project', dashboard_item: insight });
  const setDeleted = async (deleted: boolean) => {
    await send('PATCH', `/api/projects/${acme.projectId}/insights/${insight}/`, { deleted });
    await send('PATCH', `/api/projects/${acme.projectId}/dashboards/${dashboard}/`, { deleted });
  };
  await setDeleted(true);
  expect(await contents()).toEqual(['in the project']);
  await setDeleted(false);
  expect(await contents()).toEqual(['in the project', 'on the dashboard', 'at the insight']);
});

it("hides an insight's annotations from members who cannot view it, and rejects new annotations from them", async () => {
  const insight = await createInsight();
  const id = await create({ content: 'secret', scope: 'project', dashboard_item: insight });
  const before = await contents();
  expect((await hide('insights', insight)).status).toBeLessThan(300);
  expect(before).toEqual(['secret']);
  const { key } = await createActor(api.database, acme.organizationId, membershipLevels.member);
  expect((await api.get(path, key)).body.results).toEqual([]);
  expect((await api.get(`${path}${id}/`, key)).status).toBe(404);
  expect((await send('PATCH', `${path}${id}/`, { deleted: true }, key)).status).toBe(404);
  expect(await send('POST', path, { dashboard_item: insight }, key)).toMatchObject({
    status: 400,
    body: { attr: 'dashboard_item', detail: 'Insight not found.' },
  });
});

it('returns the names of insights and dashboards only to keys with permission to read them', async () => {
  const insight = await createInsight();
  await create({ content: 'Spike', dashboard_item: insight });
  const limited = await createPersonalApiKey(api.database.sql, {
    ...{ actor: null, userId: acme.M.userId, label: 'annotations only', scopes: ['annotation:write'] },
  });
  expect((await api.get(path, acme.M.key)).body.results).toMatchObject([{ insight_name: 'Orders' }]);
  expect((await api.get(path, limited.value)).body.results).toMatchObject([
    { dashboard_item: insight, insight_name: null, insight_short_id: null },
  ]);
  expect((await send('POST', path, { dashboard_item: insight }, limited.value)).status).toBe(403);
});

it('records who created and changed an annotation', async () => {
  const id = await create({ content: 'Released', scope: 'project' });
  await send('PATCH', `${path}${id}/`, { content: 'Released 2.0' });
  const history = await api.get(
    `/api/organizations/${acme.organizationId}/activity/?scope=Annotation&item_id=${id}`,
    acme.A.key,
  );
  expect(history.body.results).toMatchObject([
    { activity: 'updated', detail: { changes: [{ field: 'content', before: 'Released', after: 'Released 2.0' }] } },
    { activity: 'created', detail: { name: 'Released' } },
  ]);
});
