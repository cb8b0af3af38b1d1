import { notFound, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let acme: OrganizationActors;
let path: string;
let flagPath: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
  path = `/api/projects/${acme.projectId}/early_access_feature/`;
  flagPath = `/api/projects/${acme.projectId}/feature_flags/`;
});

const send = (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', where: string, body?: object) =>
  api.send(method, where, { key: acme.M.key, ...(body && { body }) });
const create = (body: object = {}) => send('POST', path, { name: 'New Checkout', stage: 'beta', ...body });
const change = (id: string, body: object) => send('PATCH', `${path}${id}/`, body);
async function makeFlag(body: object = {}): Promise<number> {
  const response = await send('POST', flagPath, {
    key: 'checkout',
    filters: { groups: [{ properties: [], rollout_percentage: 20 }] },
    ...body,
  });
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body.id;
}
const filtersOf = async (id: number) => (await api.get(`${flagPath}${id}/`, acme.M.key)).body.filters;
const enrolls = (key: string) => ({
  feature_enrollment: true,
  super_groups: [
    {
      properties: [{ key: `$feature_enrollment/${key}`, type: 'person', operator: 'exact', value: ['true'] }],
      rollout_percentage: 100,
    },
  ],
});
const doesNotEnroll = { feature_enrollment: null, super_groups: null };

describe.each(['projects', 'environments'])('early access features under %s', (family) => {
  test('creates a feature with all fields, and a flag that is off until users enroll', async () => {
    const where = `/api/${family}/${acme.projectId}/early_access_feature/`;
    const body = {
      name: ' Neue Zählung, Größe 2! ',
      description: 'Counts better.',
      stage: 'beta',
      documentation_url: 'https://docs.example/2',
      payload: { teaser: ['a', 1] },
    };
    const created = await send('POST', where, body);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      ...body,
      name: 'Neue Zählung, Größe 2!',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      feature_flag: expect.objectContaining({ key: 'neue-zahlung-groe-2', active: true, team_id: acme.projectId }),
      created_at: expect.stringMatching(/Z$/),
    });
    expect(created.body.feature_flag.filters).toMatchObject({
      groups: [{ properties: [], rollout_percentage: 0 }],
      ...enrolls('neue-zahlung-groe-2'),
    });
    expect((await api.get(`${where}${created.body.id}/`, acme.M.key)).body).toEqual(created.body);
    expect((await api.get(where, acme.M.key)).body).toEqual({
      count: 1,
      next: null,
      previous: null,
      results: [created.body],
    });
  });
});

test("updates a flag's enrollment when the feature's stage changes, and keeps the flag's other conditions", async () => {
  const flag = await makeFlag();
  const { body } = await create({ feature_flag_id: flag, stage: 'draft' });
  expect(await filtersOf(flag)).not.toHaveProperty('feature_enrollment', true);
  expect(await change(body.id, { stage: 'concept' })).toMatchObject({ status: 200 });
  expect(await filtersOf(flag)).not.toHaveProperty('feature_enrollment', true);
  for (const stage of ['alpha', 'beta', 'general-availability']) {
    expect(await change(body.id, { stage })).toMatchObject({ status: 200, body: { stage } });
    expect(await filtersOf(flag)).toMatchObject({ ...enrolls('checkout'), groups: [{ rollout_percentage: 20 }] });
  }
  const { version } = (await api.get(`${flagPath}${flag}/`, acme.M.key)).body;
  for (const stage of ['archived', 'draft']) {
    expect(await change(body.id, { stage })).toMatchObject({ status: 200, body: { stage } });
    expect(await filtersOf(flag)).toMatchObject({ ...doesNotEnroll, groups: [{ rollout_percentage: 20 }] });
  }
  // The flag was written only once, when the stage changed from general availability to archived.
  expect((await api.get(`${flagPath}${flag}/`, acme.M.key)).body.version).toBe(version + 1);
});

test('deletes a feature permanently, and keeps its flag without enrollment, which can then be deleted', async () => {
  const flag = await makeFlag();
  const { body } = await create({ feature_flag_id: flag });
  expect(await send('PATCH', `${flagPath}${flag}/`, { deleted: true })).toMatchObject({ status: 400 });
  expect(await send('DELETE', `${path}${body.id}/`)).toMatchObject({ status: 204 });
  expect(await api.get(`${path}${body.id}/`, acme.M.key)).toMatchObject(notFound());
  expect(await send('DELETE', `${path}${body.id}/`)).toMatchObject(notFound());
  expect(await filtersOf(flag)).toMatchObject(doesNotEnroll);
  expect(await send('PATCH', `${flagPath}${flag}/`, { deleted: true })).toMatchObject({ status: 200 });
});

test('PUT and PATCH keep omitted fields of a feature, and never change its flag', async () => {
  const [flag, other] = [await makeFlag(), await makeFlag({ key: 'other' })];
  const { body } = await create({ feature_flag_id: flag, description: 'kept' });
  expect(await change(body.id, { name: 'B', feature_flag_id: other })).toMatchObject({
    status: 200,
    body: { name: 'B', description: 'kept', stage: 'beta', feature_flag: { id: flag } },
  });
  const put = (fields: object) => send('PUT', `${path}${body.id}/`, fields);
  expect(await put({ name: 'C', stage: 'alpha' })).toMatchObject({
    status: 200,
    body: { name: 'C', description: 'kept' },
  });
  expect(await put({ name: 'C' })).toMatchObject(validationError('required', 'stage', 'This field is required.'));
});

test('returns 400 for a flag that cannot belong to a feature', async () => {
  const wrong = (detail: string) => validationError('invalid_input', 'feature_flag_id', detail);
  const missing = wrong('Feature Flag with this ID does not exist');
  expect(await create({ feature_flag_id: 2_000_000_000 })).toMatchObject(missing);
  const deletedFlag = await makeFlag({ key: 'gone' });
  await send('PATCH', `${flagPath}${deletedFlag}/`, { deleted: true });
  expect(await create({ feature_flag_id: deletedFlag })).toMatchObject(missing);
  const foreign = await api.send('POST', `/api/projects/${acme.off.projectId}/feature_flags/`, {
    key: acme.off.personalApiKey,
    body: { key: 'theirs', filters: { groups: [{}] } },
  });
  expect(await create({ feature_flag_id: foreign.body.id })).toMatchObject(missing);
  const taken = await makeFlag({ key: 'taken' });
  await create({ feature_flag_id: taken });
  expect(await create({ feature_flag_id: taken })).toMatchObject(
    wrong('Linked feature flag taken already has a feature attached to it.'),
  );
  const ofGroups = await makeFlag({ key: 'groups', filters: { groups: [{}], aggregation_group_type_index: 0 } });
  expect(await create({ feature_flag_id: ofGroups })).toMatchObject(
    wrong('Group-based feature flags are not supported for Early Access Features.'),
  );
  const variants = [
    { key: 'a', rollout_percentage: 50 },
    { key: 'b', rollout_percentage: 50 },
  ];
  const several = await makeFlag({ key: 'several', filters: { groups: [{}], multivariate: { variants } } });
  expect(await create({ feature_flag_id: several })).toMatchObject(
    wrong('Multivariate feature flags are not supported for Early Access Features.'),
  );
});

test.each<[object, string, string]>([
  [{ name: '' }, 'blank', 'name'],
  [{ name: 'x'.repeat(201) }, 'max_length', 'name'],
  [{ name: '日本' }, 'invalid_input', 'name'],
  [{ stage: 'gamma' }, 'invalid_choice', 'stage'],
  [{ stage: undefined }, 'required', 'stage'],
  [{ documentation_url: 'javascript:alert(1)' }, 'invalid_input', 'documentation_url'],
  [{ documentation_url: `https://x.example/${'x'.repeat(800)}` }, 'max_length', 'documentation_url'],
])('returns 400 for an early access feature with %j', async (body, code, attr) => {
  expect(await create(body)).toMatchObject({ status: 400, body: { code, attr } });
});

test('returns 400 without creating anything if the flag key derived from the name is taken', async () => {
  await makeFlag({ key: 'new-checkout' });
  expect(await create()).toMatchObject({ status: 400, body: { code: 'unique', attr: 'key' } });
  expect((await api.get(path, acme.M.key)).body.count).toBe(0);
});

test('creates only one feature when two requests name the same flag concurrently', async () => {
  const flag = await makeFlag();
  const responses = await Promise.all([create({ feature_flag_id: flag }), create({ feature_flag_id: flag })]);
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 400]);
});

test("replaces a feature's payload completely, clears it for null, and keeps it if it is omitted", async () => {
  const { id, payload } = (await create()).body;
  expect(payload).toEqual({});
  expect((await change(id, { payload: { a: { b: 1 } } })).body.payload).toEqual({ a: { b: 1 } });
  expect((await change(id, { description: 'x' })).body.payload).toEqual({ a: { b: 1 } });
  expect((await change(id, { payload: null })).body.payload).toEqual({});
  for (const wrong of ['text', [1], { large: 'x'.repeat(40_000) }]) {
    expect(await change(id, { payload: wrong })).toMatchObject({ status: 400, body: { attr: 'payload' } });
  }
});
