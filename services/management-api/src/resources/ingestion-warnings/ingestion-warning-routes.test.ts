import { createTestTenant, type TestTenant } from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { storeWarning } from '../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/ingestion_warnings`;
});
afterAll(() => api.stop());

const warning = (fields: Parameters<typeof storeWarning>[2]) =>
  storeWarning(api.database.sql, tenant.projectId, fields);
const ids = async (query = '') =>
  (await api.get(path + query, tenant.personalApiKey)).body.results.map((row: { id: string }) => row.id);

test('a warning shows what happened, how often and what to look at', async () => {
  const other = await createTestTenant(api.database);
  await storeWarning(api.database.sql, other.projectId, {});
  const id = await warning({ count: 3, details: { samples: [{ index: 1 }] } });
  expect((await api.get(`${path}/`, tenant.personalApiKey)).body).toEqual({
    next: null,
    results: [
      {
        id,
        type: 'missing_distinct_id',
        severity: 'error',
        count: 3,
        details: { samples: [{ index: 1 }] },
        timestamp: '2026-11-10T12:00:00Z',
      },
    ],
  });
});

test('filters: type, and time with both ends exclusive', async () => {
  const first = await warning({ type: 'a', timestamp: '2026-11-01T00:00:00Z' });
  const second = await warning({ type: 'b', timestamp: '2026-11-02T00:00:00Z' });
  expect(await ids()).toEqual([second, first]);
  expect(await ids('?type=a')).toEqual([first]);
  expect(await ids('?after=2026-11-01')).toEqual([second]);
  expect(await ids('?before=2026-11-02')).toEqual([first]);
  expect((await api.get(`${path}?after=x`, tenant.personalApiKey)).status).toBe(400);
});

test('pages are complete although many share one time', async () => {
  const stored: string[] = [];
  for (let index = 0; index < 11; index += 1) stored.push(await warning({}));
  const seen = await readAllPages<{ id: string }>(api, `${path}?limit=2`, tenant.personalApiKey);
  expect(seen.map((row) => row.id)).toEqual(stored.sort().reverse());
});
