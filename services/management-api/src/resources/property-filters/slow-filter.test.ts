import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

/** Far less than what reading 300 MB of text takes, and far more than any other statement of this test. */
const statementTimeoutMs = 1500;

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi({}, { statementTimeoutMs });
  const { sql } = api.database;
  await createMonths(sql, '2026-11', '2026-11');
  tenant = await createTestTenant(api.database);
  const properties = { text: 'ab'.repeat(400_000) };
  await storeEvent(sql, tenant.projectId, { properties });
  await storePerson(sql, tenant.projectId, { distinctIds: ['ada'], properties });
  // The text is packed and copied as it is: a few kilobytes each.
  await api.database.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0');
    await tx.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     SELECT project_id, timestamp + n * interval '1 second', gen_random_uuid(), event, distinct_id, person_id, properties,
            captured_at
       FROM event, generate_series(1, 400) AS n WHERE project_id = $1`,
      [tenant.projectId],
    );
    await tx.query(
      `INSERT INTO person (project_id, uuid, main_distinct_id, properties, version, created_at)
     SELECT project_id, gen_random_uuid(), 'p' || n, properties, 0, created_at
       FROM person, generate_series(1, 400) AS n WHERE project_id = $1`,
      [tenant.projectId],
    );
  });
});
afterAll(() => api.stop());

const list = (name: string, value: string) => {
  const filter = JSON.stringify([{ key: 'text', operator: 'regex', value }]);
  return api.get(
    `/api/projects/${tenant.projectId}/${name}/?limit=1&properties=${encodeURIComponent(filter)}`,
    tenant.personalApiKey,
  );
};

test.each(['events', 'persons'])('a filter of %s that takes too long is refused with what to do', async (name) => {
  expect(await list(name, '(a|b)*c$')).toMatchObject({
    status: 503,
    body: { code: 'query_timeout', detail: expect.stringContaining('took too long') },
  });
  // The connection is as good as before.
  expect(await api.get(`/api/projects/${tenant.projectId}/event_definitions/`, tenant.personalApiKey)).toMatchObject({
    status: 200,
  });
});
