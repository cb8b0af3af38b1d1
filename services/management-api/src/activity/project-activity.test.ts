import { randomUUID } from 'node:crypto';
import { recordActivity } from '@millrace/accounts';
import { createActors, type OrganizationActors } from '../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';

let api: TestApi;
let acme: OrganizationActors;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  acme = await createActors(api.database);
  path = `/api/projects/${acme.projectId}/`;
});
afterAll(() => api.stop());

type Change = Parameters<typeof recordActivity>[1];
const record = (scope: Change['scope'], itemId: string | number, fields: Partial<Change> = {}) =>
  api.database.transaction((tx) =>
    recordActivity(tx, {
      ...{ organizationId: acme.organizationId, environmentId: acme.projectId, scope, itemId },
      ...{ activity: 'created', name: 'a name', actor: { userId: acme.A.userId } },
      ...fields,
    }),
  );
const list = (query = '', key = acme.M.key) => api.get(`${path}activity_log/?${query}`, key);
const found = async (query = '', key = acme.M.key) =>
  (await list(query, key)).body.results.map((row: { scope: string; item_id: string }) => row.scope + row.item_id);
const rule = (rest: string, body: object) => api.send('PUT', path + rest, { key: acme.A.key, body });

test("lists a project's activity, latest first", async () => {
  await record('FeatureFlag', 1);
  await record('Team', acme.projectId, { actor: { command: 'project rename' } });
  await record('Team', 1, { environmentId: acme.off.environmentId });
  await record('Organization', acme.organizationId, { environmentId: undefined });
  const { status, body } = await list();
  expect([status, body]).toEqual([
    200,
    {
      ...{ count: 2, next: null, previous: null },
      results: [
        {
          ...{ id: expect.any(String), organization_id: acme.organizationId },
          user: { first_name: 'Command line', email: null, is_system: true },
          ...{ activity: 'created', scope: 'Team', item_id: String(acme.projectId) },
          detail: expect.objectContaining({ name: 'a name', changes: null }),
          created_at: expect.stringMatching(/Z$/),
          ...{ is_system: true, was_impersonated: false, unread: false },
        },
        expect.objectContaining({ scope: 'FeatureFlag', is_system: false }),
      ],
    },
  ]);
});

test("combines the filters of a project's activity with AND", async () => {
  await record('FeatureFlag', 1);
  await record('FeatureFlag', 2, { actor: { userId: acme.M.userId } });
  await record('Cohort', 1);
  await record('Insight', 1);
  expect(await found('scope=FeatureFlag')).toEqual(['FeatureFlag2', 'FeatureFlag1']);
  expect(await found('scopes=Cohort,Insight')).toEqual(['Insight1', 'Cohort1']);
  expect(await found('scopes=Cohort&scopes=Insight')).toEqual(['Insight1', 'Cohort1']);
  expect(await found('scopes=Cohort,Insight&scope=Cohort')).toEqual(['Cohort1']);
  expect(await found('scopes=Cohort&scope=Insight')).toEqual([]);
  expect(await found('scope=FeatureFlag&item_id=2')).toEqual(['FeatureFlag2']);
  expect(await found(`user=${acme.M.uuid}`)).toEqual(['FeatureFlag2']);
  expect(await found(`user=${randomUUID()}`)).toEqual([]);
});

test('activity pages have numbers, and their links keep the filters', async () => {
  for (let index = 0; index < 5; index += 1) await record('FeatureFlag', index);
  await record('Cohort', 1);
  const first = await list('page_size=2&scope=FeatureFlag');
  expect(first.body).toMatchObject({ count: 5, previous: null });
  const second = await api.get(first.body.next, acme.M.key);
  const third = await api.get(second.body.next, acme.M.key);
  expect(third.body.next).toBeNull();
  const rows = [first, second, third].flatMap(({ body }) => body.results);
  expect(rows.map(({ item_id }: { item_id: string }) => item_id)).toEqual(['4', '3', '2', '1', '0']);
  expect((await api.get(third.body.previous, acme.M.key)).body).toEqual(second.body);
  expect((await list('page=2')).status).toBe(404);
});

test.each(['page=0', 'page=x', 'page_size=1001', 'user=me'])(
  'returns 400 naming the field for the activity filter %s',
  async (query) => {
    const { status, body } = await list(query);
    expect([status, body.attr]).toEqual([400, query.split('=')[0]]);
  },
);

describe('activity that members cannot see', () => {
  test.each([
    ['feature_flags', 'feature_flag', 'FeatureFlag', { key: 'closed' }],
    ['cohorts', 'cohort', 'Cohort', { name: 'closed', is_static: true }],
    ['dashboards', 'dashboard', 'Dashboard', { name: 'closed' }],
    ['early_access_feature', 'early_access_feature', 'EarlyAccessFeature', { name: 'closed', stage: 'beta' }],
    [
      ...(['insights', 'insight', 'Insight'] as const),
      { name: 'closed', saved: true, query: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'a' }] } },
    ],
  ])('hides activity about restricted %s from members', async (collection, resource, scope, body) => {
    const { id } = (await api.send('POST', `${path}${collection}/`, { key: acme.A.key, body })).body;
    await record(scope as Change['scope'], 'open');
    const [open, closed] = [`${scope}open`, `${scope}${id}`];
    expect(await found(`scope=${scope}`)).toEqual([open, closed]);
    await rule(`${collection}/${id}/access_controls/`, { access_level: 'none' });
    expect(await found(`scope=${scope}`)).toEqual([open]);
    expect(await found()).not.toContain(closed);
    expect(await found(`scope=${scope}`, acme.A.key)).toEqual([open, closed]);
    await rule('resource_access_controls/', { resource, access_level: 'none' });
    expect(await found(`scope=${scope}`)).toEqual([]);
  });

  test('hides changes to annotations, exports and subscriptions from a member to whom an insight rule applies', async () => {
    for (const scope of ['Annotation', 'BatchExport', 'Subscription'] as const) await record(scope, 1);
    const all = ['Subscription1', 'BatchExport1', 'Annotation1'];
    expect(await found()).toEqual(all);
    await rule('resource_access_controls/', { resource: 'insight', access_level: 'viewer' });
    expect(await found('scopes=Annotation,BatchExport,Subscription')).toEqual([]);
    expect(await found('scopes=Annotation,BatchExport,Subscription', acme.A.key)).toEqual(all);
  });

  test('shows decisions on dead letters only to administrators', async () => {
    await record('DeadLetter', 1);
    expect([await found(), await found('', acme.A.key)]).toEqual([[], ['DeadLetter1']]);
  });
});
