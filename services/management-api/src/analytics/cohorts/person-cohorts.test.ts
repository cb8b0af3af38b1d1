import { createPersonalApiKey } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { notFound, permissionDenied } from '../../testing/expected-errors.ts';
import { createActor, createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let acme: OrganizationActors;
let ada: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
  const stored = { distinctIds: ['ada'], properties: { plan: 'pro' } };
  ada = await storePerson(api.database.sql, acme.projectId, stored);
  await storePerson(api.database.sql, acme.projectId, { distinctIds: ['bob'], properties: { plan: 'free' } });
});

const path = (query: string) => `/api/projects/${acme.projectId}/persons/cohorts/?${query}`;
const get = (query: string, key = acme.M.key) => api.get(path(query), key);
const names = async (query: string, key?: string) =>
  (await get(query, key)).body.results.map(({ name }: { name: string }) => name);
async function create(body: object): Promise<number> {
  const response = await api.send('POST', `/api/projects/${acme.projectId}/cohorts/`, { key: acme.M.key, body });
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body.id;
}
const onPlan = (plan: string) => ({
  filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', operator: 'exact', value: [plan] }] } },
});

it('lists the static and dynamic cohorts to which a person currently belongs, newest first', async () => {
  const pro = await create({ name: 'pro', ...onPlan('pro') });
  await create({ name: 'free', ...onPlan('free') });
  await create({ name: 'listed', is_static: true, _create_static_person_ids: [ada] });
  await create({ name: 'empty', is_static: true });
  const partOf = { type: 'AND', values: [{ type: 'cohort', key: 'id', value: pro }] };
  await create({ name: 'made of pro', filters: { properties: partOf } });
  const gone = await create({ name: 'deleted', ...onPlan('pro') });
  await api.send('PATCH', `/api/projects/${acme.projectId}/cohorts/${gone}/`, {
    key: acme.M.key,
    body: { deleted: true },
  });

  const { body } = await get(`person_id=${ada}`);
  expect(body).toMatchObject({ count: 3, next: null, previous: null });
  const shown = await api.get(`/api/projects/${acme.projectId}/cohorts/${pro}/`, acme.M.key);
  expect(body.results.at(-1)).toEqual(shown.body);
  expect(await names('person_id=ada')).toEqual(['made of pro', 'listed', 'pro']);
  expect(await names('person_id=bob')).toEqual(['free']);
  expect(await names('person_id=ada&limit=1&offset=1')).toEqual(['listed']);
});

it('returns 404 for the cohorts of an unknown person, and 400 if no person is given', async () => {
  expect(await get('person_id=unknown')).toMatchObject(notFound('Not found.'));
  expect(await get('')).toMatchObject({ status: 400, body: { attr: 'person_id' } });
});

it('omits cohorts that the caller cannot view', async () => {
  const id = await create({ name: 'closed', ...onPlan('pro') });
  await create({ name: 'open', ...onPlan('pro') });
  await api.send('PUT', `/api/projects/${acme.projectId}/cohorts/${id}/access_controls/`, {
    key: acme.A.key,
    body: { access_level: 'none' },
  });
  const { key } = await createActor(api.database, acme.organizationId, membershipLevels.member);
  expect(await names('person_id=ada', key)).toEqual(['open']);
  expect(await names('person_id=ada', acme.A.key)).toEqual(['open', 'closed']);
});

it("requires the scope cohort:read in addition to person:read for listing a person's cohorts", async () => {
  const { value } = await createPersonalApiKey(api.database.sql, {
    ...{ actor: null, userId: acme.M.userId, label: 'persons only', scopes: ['person:read'] },
  });
  expect(await get('person_id=ada', value)).toMatchObject(
    permissionDenied("API key missing required scope 'cohort:read'"),
  );
});
