import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../../testing/start-test-api.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
});

const flags = (path = '') => `/api/projects/${tenant.projectId}/feature_flags/${path}`;
const send = (method: 'GET' | 'POST', path: string, body?: unknown) =>
  api.send(method, path, { key: tenant.personalApiKey, body });
const made = async (path: string, body: unknown) => (await send('POST', path, body)).body;
const everybody = { groups: [{ rollout_percentage: 100 }] };

test('returns the flag definitions for local evaluation', async () => {
  const target = await made(flags(), { key: 'target', filters: everybody, active: true });
  const cohort = await made(`/api/projects/${tenant.projectId}/cohorts/`, {
    name: 'Pro',
    filters: { properties: { type: 'OR', values: [{ type: 'person', key: 'plan', operator: 'exact', value: 'pro' }] } },
  });
  const properties = [
    { key: String(target.id), type: 'flag', operator: 'flag_evaluates_to', value: true },
    { key: 'id', type: 'cohort', value: cohort.id },
  ];
  await made(flags(), { key: 'dependent', filters: { groups: [{ properties }] } });
  await made(flags(), { key: 'off', filters: everybody, active: false });
  const { status, body } = await send('GET', flags('local_evaluation/'));
  expect(status).toBe(200);
  expect(body.flags.map(({ key, active }: { key: string; active: boolean }) => [key, active])).toEqual([
    ['dependent', true],
    ['off', false],
    ['target', true],
  ]);
  expect(body.flags[0].filters.groups[0].properties[0]).toMatchObject({ key: 'target', dependency_chain: ['target'] });
  expect(Object.keys(body.cohorts)).toEqual([String(cohort.id)]);
});

test("flag-088: returns a remote configuration's payload by key or ID, and 404 for other flags", async () => {
  const payloads = { true: '{"theme":"dark"}' };
  const remote = await made(flags(), {
    key: 'theme',
    is_remote_configuration: true,
    filters: { ...everybody, payloads },
  });
  const usual = await made(flags(), { key: 'usual', filters: { ...everybody, payloads } });
  const shown = async (flag: unknown) => {
    const { status, body } = await send('GET', flags(`${flag}/remote_config/`));
    return [status, status === 200 ? body : null];
  };
  expect(await shown('theme')).toEqual([200, payloads.true]);
  expect(await shown(remote.id)).toEqual([200, payloads.true]);
  expect(await shown('usual')).toEqual([404, null]);
  expect(await shown(usual.id)).toEqual([404, null]);
});
