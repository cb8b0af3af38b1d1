import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
  await api.database.sql.query(
    `INSERT INTO group_type_mapping (project_id, group_type, group_type_index, created_at)
     VALUES ($1, 'company', 0, '2026-11-02T08:00:00Z'), ($1, 'team', 1, '2026-11-03T08:00:00Z')`,
    [acme.projectId],
  );
});

const rename = (body: unknown) =>
  api.send('PATCH', `/api/projects/${acme.projectId}/groups_types/update_metadata/`, {
    key: acme.M.key,
    body: body as object,
  });
const list = async () => (await api.get(`/api/environments/${acme.projectId}/groups_types/`, acme.M.key)).body;

const unnamed = { name_singular: null, name_plural: null, detail_dashboard: null, default_columns: null };
const company = { ...unnamed, group_type: 'company', group_type_index: 0, created_at: '2026-11-02T08:00:00Z' };
const team = { ...unnamed, group_type: 'team', group_type_index: 1, created_at: '2026-11-03T08:00:00Z' };

it('renames only the group types in the request', async () => {
  const named = { ...company, name_singular: 'Company', name_plural: 'Companies' };
  const { status, body } = await rename([named, { group_type_index: 1, name_plural: 'Teams' }]);
  expect([status, body.detail]).toEqual([200, undefined]);
  expect(body).toEqual([named, { ...team, name_plural: 'Teams' }]);
  expect(await list()).toEqual(body);
  await rename([{ group_type_index: 0, name_singular: null }]);
  expect(await list()).toEqual([
    { ...named, name_singular: null },
    { ...team, name_plural: 'Teams' },
  ]);
  const history = await api.get(`/api/organizations/${acme.organizationId}/activity/?scope=GroupType`, acme.A.key);
  expect(history.body.results.map((one: { item_id: string; detail: object }) => [one.item_id, one.detail])).toEqual([
    ['0', expect.objectContaining({ name: 'company', changes: [expect.objectContaining({ after: null })] })],
    ['1', expect.objectContaining({ name: 'team' })],
    ['0', expect.objectContaining({ name: 'company' })],
  ]);
});

it.each([
  ['an unknown type', [{ group_type_index: 2 }], '1__group_type_index'],
  ['an index above 4', [{ group_type_index: 5 }], '1__group_type_index'],
  ['a missing index', [{ name_singular: 'a' }], '1__group_type_index'],
  ['a name that is too long', [{ group_type_index: 1, name_plural: 'x'.repeat(401) }], '1__name_plural'],
  ['a dashboard', [{ group_type_index: 1, detail_dashboard: 7 }], '1__detail_dashboard'],
  ['columns', [{ group_type_index: 1, default_columns: ['name'] }], '1__default_columns'],
])('returns 400 when group types are renamed with %s, and changes nothing', async (_what, others, attr) => {
  const response = await rename([{ group_type_index: 0, name_singular: 'Company' }, ...others]);
  expect(response).toMatchObject({ status: 400, body: { attr } });
  expect(await list()).toEqual([company, team]);
});

it('returns 400 for renaming group types with a body that is not a list', async () => {
  expect(await rename({ group_type_index: 0 })).toMatchObject({ status: 400, body: { code: 'not_a_list' } });
});

it('returns 405 for the deletion of a group type', async () => {
  const path = `/api/projects/${acme.projectId}/groups_types/0/`;
  expect((await api.send('DELETE', path, { key: acme.M.key })).status).toBe(405);
  expect(await list()).toEqual([company, team]);
});
