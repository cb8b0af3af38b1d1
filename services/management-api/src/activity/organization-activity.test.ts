import { randomUUID } from 'node:crypto';
import { addMember, createPersonalApiKey, createUser, recordActivity } from '@millrace/accounts';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../testing/start-test-api.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
let colleague: { id: number; uuid: string };
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database);
  const other = await createTestTenant(api.database);
  colleague = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
  path = `/api/organizations/${tenant.organizationId}/activity`;
  const { organizationId, environmentId } = tenant;
  await record({ organizationId, scope: 'Organization', itemId: organizationId, actor: { userId: tenant.userId } });
  await record({ organizationId, environmentId, scope: 'FeatureFlag', itemId: 1, actor: { userId: colleague.id } });
  await record({ organizationId, environmentId, scope: 'FeatureFlag', itemId: 2, actor: { userId: tenant.userId } });
  await record({ organizationId, scope: 'OrganizationInvite', itemId: 'i', actor: { command: 'member invite' } });
  await record({ ...other, scope: 'FeatureFlag', itemId: 1, actor: { userId: colleague.id } });
});
afterAll(() => api.stop());

const record = (about: Omit<Parameters<typeof recordActivity>[1], 'activity' | 'name'>) =>
  api.database.transaction((tx) => recordActivity(tx, { ...about, activity: 'created', name: 'a name' }));

interface Shown {
  scope: string;
  item_id: string;
}
const found = async (query: string) =>
  (await api.get(`${path}?${query}`, tenant.personalApiKey)).body.results.map((row: Shown) => row.scope + row.item_id);
const ours = ['OrganizationInvitei', 'FeatureFlag2', 'FeatureFlag1', 'Organization'];

test("lists the activity of an organization and its projects, latest first, in PostHog's format", async () => {
  const { body } = await api.get(`${path}/`, tenant.personalApiKey);
  expect(body.results.map((row: Shown) => row.scope)).toEqual([
    'OrganizationInvite',
    'FeatureFlag',
    'FeatureFlag',
    'Organization',
  ]);
  expect(body.results[0]).toEqual({
    user: { first_name: 'Command line', email: null, is_system: true },
    activity: 'created',
    scope: 'OrganizationInvite',
    item_id: 'i',
    detail: {
      name: 'a name',
      short_id: null,
      type: null,
      trigger: { job_type: 'command_line', job_id: 'member invite', payload: {} },
      changes: null,
    },
    created_at: expect.stringMatching(/^20/),
    team_id: null,
  });
  expect(body.results[1].team_id).toBe(tenant.projectId);
});

test("combines the filters of an organization's activity with AND", async () => {
  expect(await found('scope=FeatureFlag')).toEqual([ours[1], ours[2]]);
  expect(await found('scope=FeatureFlag&item_id=1')).toEqual([ours[2]]);
  expect(await found(`user=${colleague.uuid}`)).toEqual([ours[2]]);
  expect(await found(`user=${randomUUID()}`)).toEqual([]);
  expect(await found(`team_id=${tenant.projectId}`)).toEqual([ours[1], ours[2]]);
  expect(await found('team_id=2147483647')).toEqual([]);
  expect(await found('after=-1h')).toHaveLength(4);
  expect(await found('before=-1h')).toEqual([]);
  expect(await found('scope=Nothing')).toEqual([]);
});

test('returns complete pages of activity even if many records have the same time', async () => {
  await api.database.sql.query(
    "UPDATE activity_log SET created_at = date_trunc('minute', created_at) + random() * interval '3 microseconds' WHERE organization_id = $1",
    [tenant.organizationId],
  );
  const seen = await readAllPages<Shown>(api, `${path}?limit=1`, tenant.personalApiKey);
  expect(seen.map((row) => row.scope + row.item_id.replace(tenant.organizationId, '')).sort()).toEqual(
    [...ours].sort(),
  );
});

test('returns 403 to members, because the activity could reveal private environments', async () => {
  const { sql } = api.database;
  await addMember(sql, { organizationId: tenant.organizationId, userId: colleague.id, level: 1 });
  const { value } = await createPersonalApiKey(sql, { actor: null, userId: colleague.id, label: 'k', scopes: ['*'] });
  expect((await api.get(path, value)).status).toBe(403);
});

test.each(['user=me', 'after=soon', 'cursor=x', 'cursor=eyJhdCI6LTF9'])(
  'returns 400 naming the field for the activity filter %s',
  async (query) => {
    const { status, body } = await api.get(`${path}?${query}`, tenant.personalApiKey);
    expect([status, body.attr]).toEqual([400, query.split('=')[0]]);
  },
);
