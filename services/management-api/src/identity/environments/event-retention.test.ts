import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database);
});
afterAll(() => api.stop());

const paths = () => [`/api/environments/${tenant.environmentId}`, `/api/projects/${tenant.projectId}`];
const patch = (path: string, days: unknown) =>
  api.send('PATCH', `${path}/event_retention/`, { key: tenant.personalApiKey, body: { event_retention_days: days } });

test('sets and clears the retention period under both the project and environment paths, and records the change', async () => {
  for (const path of paths()) {
    expect(await patch(path, 30)).toMatchObject({ status: 200, body: { event_retention_days: 30 } });
    for (const other of paths()) {
      const { body } = await api.get(`${other}/event_retention/`, tenant.personalApiKey);
      expect(body).toEqual({ event_retention_days: 30 });
    }
    expect(await patch(path, null)).toMatchObject({ status: 200, body: { event_retention_days: null } });
  }
  const { results } = (await api.get(`${paths()[1]}/activity/`, tenant.personalApiKey)).body;
  expect(results[0].detail.changes).toEqual([
    { type: 'Team', action: 'deleted', field: 'event_retention_days', before: 30, after: null },
  ]);
});

test.each([0, -1, 36_501, 1.5, 'soon', undefined])('returns 400 for a retention period of %s days', async (days) => {
  expect(await patch(`/api/environments/${tenant.environmentId}`, days)).toMatchObject({
    status: 400,
    body: { attr: 'event_retention_days' },
  });
});
