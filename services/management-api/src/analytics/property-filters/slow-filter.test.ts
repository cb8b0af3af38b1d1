import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths } from '../../testing/stored-data.ts';

/** Statement timeout in milliseconds. Only a statement that waits for a lock takes this long. */
const statementTimeoutMs = 3000;

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi({}, { statementTimeoutMs });
  await createMonths(api.database.sql, '2026-11', '2026-11');
  tenant = await createTestTenant(api.database);
});
afterAll(() => api.stop());

const list = (name: string) => {
  const filter = JSON.stringify([{ key: 'text', operator: 'regex', value: '(a|b)*c$' }]);
  return api.get(
    `/api/projects/${tenant.projectId}/${name}/?limit=1&properties=${encodeURIComponent(filter)}`,
    tenant.personalApiKey,
  );
};

test.each([
  ['events', 'event'],
  ['persons', 'person'],
])('returns 503 with advice when a property filter for %s takes too long', async (name, table) => {
  // Lock the table, so that the request exceeds the time limit even on a fast machine.
  const response = await api.database.transaction(async (tx) => {
    await tx.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    return list(name);
  });
  expect(response).toMatchObject({
    status: 503,
    body: { code: 'query_timeout', detail: expect.stringContaining('took too long') },
  });
  expect(await list(name)).toMatchObject({ status: 200, body: { results: [] } });
});
